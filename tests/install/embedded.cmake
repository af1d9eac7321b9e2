# Configures a project that has motes inside, and compiles its own file (not all of motes again).
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(here ${BUILD}/tests/install/embedded)
file(REMOVE_RECURSE ${here})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/embedded -B ${here} -G Ninja -DMOTES_SOURCE=${SOURCE}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug)
check_no_warning_flags(${here} ${CMAKE_CURRENT_LIST_DIR}/embedded)
run(${CMAKE_COMMAND} --build ${here} --target CMakeFiles/embedded.dir/main.cpp.o)
