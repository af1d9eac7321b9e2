# What most sources include, in libraries large enough for it to pay. Not <iostream>, which would put an initialiser
# into every object, and nothing that compiles code into every file that sees it (CLI11; nlohmann/json pays in its
# own users only).
set(MOTES_COMMON_HEADERS algorithm array atomic bit chrono cmath cstddef cstdint cstring functional limits map memory
  numeric optional span stdexcept string string_view type_traits utility variant vector)

# motes_library(NAME [UNITY] SOURCES ... [PUBLIC ...] [PRIVATE ...] [PRECOMPILE ...]): target motes_NAME, alias motes::NAME.
# Public headers lie in FOLDER/include/motes/FOLDER; private ones are included by their path from the project's root.
# PRECOMPILE names headers that most sources include anyway; every source still includes what it uses.
# UNITY: with MOTES_UNITY, files are compiled in groups; names in their anonymous namespaces must then differ. Not where
# loops are hot, because the compiler's choice of what to inline would depend on the group.
function(motes_library name)
  cmake_parse_arguments(ARG "UNITY" "" "SOURCES;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  add_library(motes_${name} STATIC ${ARG_SOURCES})
  add_library(motes::${name} ALIAS motes_${name})
  set_target_properties(motes_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(motes_${name} PUBLIC cxx_std_20)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(motes_${name} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endif()
  target_link_libraries(motes_${name} PUBLIC ${ARG_PUBLIC} PRIVATE $<BUILD_INTERFACE:motes_options> ${ARG_PRIVATE})
  motes_precompile(motes_${name} ${ARG_PRECOMPILE})
  if(ARG_UNITY AND MOTES_UNITY)
    motes_unity(motes_${name})
  endif()
endfunction()

# motes_unity(TARGET): C++ sources are compiled in groups of eight, but for those with options of their own.
function(motes_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # GCC takes what is not in the main file for a header, and warns of anonymous namespaces there.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# motes_precompile(TARGET HEADER...): one precompiled header of these, for the target's C++ sources.
function(motes_precompile target)
  if(MOTES_PCH AND ARGN)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()
