# Inside another project (add_subdirectory, FetchContent) only the libraries matter.
option(MOTES_TESTS "Build the test suite" ${PROJECT_IS_TOP_LEVEL})
option(MOTES_BENCH "Build the benchmark drivers" ${PROJECT_IS_TOP_LEVEL})
option(MOTES_WERROR "Treat warnings as errors" OFF)  # later compilers warn of more; .ci/run sets it
option(MOTES_INSTALL "Add motes to what `cmake --install` installs" ${PROJECT_IS_TOP_LEVEL})
option(MOTES_PCH "Precompile the headers that most files of a library include" ON)
option(MOTES_UNITY "Compile eight files as one: a build takes two thirds of the time, a change of one file longer" OFF)
option(MOTES_MATCHING_ONLY "Build only the matching library (needs no VTK, HDF5, TIFF or YAML)" OFF)
option(MOTES_APP "Build io and the motes executable (needs VTK, HDF5, TIFF and YAML); OFF: matching, tracking and sim" ON)
option(MOTES_VTK "Read and write VTK files, draw pictures (needs VTK and X11); OFF: the rest works as ever" ON)
option(MOTES_PYTHON "Build the Python extension (needs Python 3.10 and nanobind; all code position independent)" OFF)
option(MOTES_FUZZ "Build the libFuzzer targets of the readers (clang)" OFF)
set(MOTES_SANITIZE "" CACHE STRING "Sanitizers of the whole build, for instance address,undefined")
set(MOTES_CUDA AUTO CACHE STRING "CUDA code: AUTO (when nvcc is there), ON or OFF")
set_property(CACHE MOTES_CUDA PROPERTY STRINGS AUTO ON OFF)
set(MOTES_MPI AUTO CACHE STRING "Several ranks by MPI: AUTO (when MPI is there), ON or OFF")
set_property(CACHE MOTES_MPI PROPERTY STRINGS AUTO ON OFF)
set(MOTES_NCCL AUTO CACHE STRING "Several ranks with a GPU each: AUTO (with CUDA and nccl.h), ON or OFF")
set_property(CACHE MOTES_NCCL PROPERTY STRINGS AUTO ON OFF)
set(MOTES_DATA_DIR "${PROJECT_SOURCE_DIR}/../shared/data" CACHE PATH
    "Folder of real test data; tests that need it are skipped, and say so, where it is absent")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(MOTES_PYTHON)  # the static libraries become part of a shared one
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

find_program(MOTES_CCACHE ccache)
if(MOTES_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MOTES_CCACHE})
  if(MOTES_PCH)  # without these, ccache stores nothing that uses a precompiled header
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${MOTES_CCACHE})
  endif()
endif()

# Everything a motes target compiles with; nothing is set globally.
add_library(motes_options INTERFACE)
target_compile_features(motes_options INTERFACE cxx_std_20)
target_include_directories(motes_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(motes_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wnon-virtual-dtor -Woverloaded-virtual -ffp-contract=off>)
# CMake 3.25 does not know nvcc's C++20, hence the plain flag; relaxed constexpr lets device code use std::span.
target_compile_options(motes_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -lineinfo -Xcompiler=-Wall,-Wextra,-Wno-restrict>)
# -ffp-contract=off: no machine may fuse a multiply and an add that another one does not.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns falsely of overlapping copies in std::string concatenation (GCC bug 105651).
  target_compile_options(motes_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(MOTES_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(motes_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # The same false warning has other names where <string> is precompiled; MOTES_PCH=OFF keeps these.
    target_compile_options(motes_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>)
  endif()
endif()
if(MOTES_PYTHON)  # what is not exported can be inlined, although the code is position independent
  target_compile_options(motes_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fvisibility=hidden>)
endif()
if(MOTES_WERROR)
  target_compile_options(motes_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(MOTES_SANITIZE)
  target_compile_options(motes_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${MOTES_SANITIZE} -fno-omit-frame-pointer -g>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # instrumented loops need not become SIMD
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)  # reported falsely of instrumented containers
  target_link_options(motes_options INTERFACE -fsanitize=${MOTES_SANITIZE})
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
# A program with the property MOTES_STATIC_OPENMP contains GCC's OpenMP library, so that it can set variables before the
# library reads them (app/main.cpp).
if(OpenMP_gomp_LIBRARY)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a OUTPUT_VARIABLE MOTES_STATIC_GOMP
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${MOTES_STATIC_GOMP}" AND EXISTS "${MOTES_STATIC_GOMP}")
    list(TRANSFORM OpenMP_CXX_LIBRARIES REPLACE "^.*libgomp.*$"
      "$<IF:$<BOOL:$<TARGET_PROPERTY:MOTES_STATIC_OPENMP>>,${MOTES_STATIC_GOMP},${OpenMP_gomp_LIBRARY}>"
      OUTPUT_VARIABLE openmp_libraries)
    set_target_properties(OpenMP::OpenMP_CXX PROPERTIES INTERFACE_LINK_LIBRARIES "${openmp_libraries}")
  else()
    message(STATUS "motes: no libgomp.a: idle threads of the program spin longer before they sleep")
  endif()
endif()
find_package(Threads REQUIRED)
