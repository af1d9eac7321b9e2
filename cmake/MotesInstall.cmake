# What `cmake --install` installs: the executable, the libraries with their headers, the CMake package and one
# pkg-config file a library. CPack makes two Debian packages of it: motes (the executable) and motes-dev.
include(CMakePackageConfigHelpers)
set(motes_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/motes)
set(MOTES_EXPORTED "")

# motes_install_library(NAME REQUIRES [names of libraries] LIBS [linker words]): LIBS are pkg-config's alone.
function(motes_install_library name)
  cmake_parse_arguments(ARG "" "" "REQUIRES;LIBS" ${ARGN})
  install(TARGETS motes_${name} EXPORT motes-${name}-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT motes-${name}-targets NAMESPACE motes:: DESTINATION ${motes_package_dir} COMPONENT development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${name}/include/motes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")

  cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
  cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
  list(JOIN ARG_REQUIRES ", " pc_requires)
  list(JOIN ARG_LIBS " " pc_libs)
  set(pc_cflags "")
  if(name STREQUAL "base")
    set(pc_cflags ${OpenMP_CXX_FLAGS})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/motes-library.pc.in ${PROJECT_BINARY_DIR}/motes-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/motes-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
  set(MOTES_EXPORTED ${MOTES_EXPORTED} ${name} PARENT_SCOPE)
endfunction()

set(motes_base_libs ${OpenMP_CXX_FLAGS})
if(MOTES_HAS_CUDA)
  list(APPEND motes_base_libs -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread)
endif()
motes_install_library(base LIBS ${motes_base_libs})
motes_install_library(matching REQUIRES motes-base)
if(TARGET motes_tracking)
  motes_install_library(tracking REQUIRES motes-matching)
  motes_install_library(sim REQUIRES motes-tracking)
endif()
if(TARGET motes_io)
  set(vtk_libs "")
  if(MOTES_VTK)
    set(vtk_libs CommonCore CommonDataModel IOXML sys)
  endif()
  list(TRANSFORM vtk_libs REPLACE "(.+)" "-lvtk\\1-${VTK_MAJOR_VERSION}.${VTK_MINOR_VERSION}")
  motes_install_library(io REQUIRES motes-tracking libtiff-4 libpng hdf5 zlib blosc libzstd liblz4 pugixml fmt LIBS ${vtk_libs})
endif()
install(FILES ${PROJECT_BINARY_DIR}/generated/include/motes/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/motes COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/motesConfig.cmake.in
  ${PROJECT_BINARY_DIR}/motesConfig.cmake INSTALL_DESTINATION ${motes_package_dir} NO_SET_AND_CHECK_MACRO)
# 0.x: a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/motesConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/motesConfig.cmake ${PROJECT_BINARY_DIR}/motesConfigVersion.cmake
  DESTINATION ${motes_package_dir} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

if(TARGET motes)
  install(TARGETS motes RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/motes COMPONENT runtime)
endif()

if(TARGET motes_mpi)
  install(TARGETS motes_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/motes COMPONENT mpi OPTIONAL)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_NAME motes)
  set(CPACK_PACKAGE_CONTACT "the motes developers")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_COMPONENTS_ALL runtime development)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME motes)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)  # what the executable is linked with, by dpkg-shlibdeps
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS xvfb)  # `motes render` where there is no display
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME motes-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "g++, libhdf5-dev, libtiff-dev, libpng-dev, libpugixml-dev, zlib1g-dev, libblosc-dev, libzstd-dev, liblz4-dev, libfmt-dev, libvtk${VTK_MAJOR_VERSION}-dev")
  if(TARGET motes_mpi)  # a package of its own, so that motes does not ask for MPI
    list(APPEND CPACK_COMPONENTS_ALL mpi)
    set(CPACK_DEBIAN_MPI_PACKAGE_NAME motes-mpi)
    set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS motes)
    set(CPACK_COMPONENT_MPI_DESCRIPTION "Several ranks of motes match under mpirun")
  endif()
  set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Particle tracking in 3D microscopy time series: the motes command")
  set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Exact matching and 3D particle tracking: libraries and headers")
  include(CPack)
endif()
