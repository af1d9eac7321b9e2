# motes_library(NAME SOURCES ...): target motes_NAME, alias motes::NAME.
function(motes_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(motes_${name} STATIC ${ARG_SOURCES})
  add_library(motes::${name} ALIAS motes_${name})
  target_link_libraries(motes_${name} PUBLIC motes_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()
