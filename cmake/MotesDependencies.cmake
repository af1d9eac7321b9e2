# All from the distribution's packages; scripts/common.sh lists them.
find_package(TIFF REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(pugixml REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(blosc REQUIRED IMPORTED_TARGET GLOBAL blosc)    # Zarr's codecs
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)
pkg_check_modules(liblz4 REQUIRED IMPORTED_TARGET GLOBAL liblz4)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
if(MOTES_VTK)
  find_package(VTK 9 REQUIRED COMPONENTS CommonCore CommonDataModel IOXML IOImage RenderingCore RenderingFreeType
    RenderingOpenGL2 RenderingVolume RenderingVolumeOpenGL2)
  find_package(X11 REQUIRED)
endif()
