# Installs the built tree into a folder of the build, builds examples/ against it with find_package, runs them, and
# builds one of them with pkg-config alone.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(here ${BUILD}/tests/install)
set(prefix ${here}/prefix)
file(REMOVE_RECURSE ${prefix} ${here}/examples)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --config ${CONFIG})

set(flags "")
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/examples -B ${here}/examples -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
check_no_warning_flags(${here}/examples ${SOURCE}/examples)
run(${CMAKE_COMMAND} --build ${here}/examples --parallel 2)
set(examples assignment cardinality)
if(EXISTS ${prefix}/include/motes/tracking)
  list(APPEND examples track_array)
endif()
foreach(example IN LISTS examples)
  run(${here}/examples/${example})
endforeach()

# A component that is not there is refused by name.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/missing -B ${here}/missing -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX} RESULT_VARIABLE status ERROR_VARIABLE text OUTPUT_QUIET)
if(status EQUAL 0 OR NOT text MATCHES "no component 'nonsense'")
  message(FATAL_ERROR "find_package(motes COMPONENTS nonsense) should fail and name the component: ${text}")
endif()

find_program(pkg_config pkg-config)
if(NOT pkg_config)
  message(STATUS "pkg-config is not installed: its files are not tried")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${pkg_config} --define-variable=prefix=${prefix} --cflags --libs motes-matching
  RESULT_VARIABLE status OUTPUT_VARIABLE words ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "pkg-config motes-matching: ${text}")
endif()
separate_arguments(words UNIX_COMMAND "${words}")
run(${CXX} -std=c++20 ${flags} ${SOURCE}/examples/assignment.cpp ${words} -o ${here}/assignment)
run(${here}/assignment)
