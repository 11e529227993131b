# neuron_library(<folder> SRCS ... DEPS ... [ROWS <dir>...])
#
# src/<folder> -> static library neuron_<folder>. DEPS are the only folders its files may include
# (tests/test_layering.py reads the same lines); each must be declared before. ROWS names
# subfolders whose .cpp files are one table row each: they are compiled in, and a generated
# <folder>_<dir>_rows.inc lists their stems as NEURON_ROW(stem), so that a table is an array and
# needs no static constructors.
function(neuron_library folder)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;LINK;ROWS" ${ARGN})
  set(srcs)
  foreach(src ${ARG_SRCS})
    list(APPEND srcs ${CMAKE_SOURCE_DIR}/src/${folder}/${src})
  endforeach()
  foreach(row_folder ${ARG_ROWS})
    file(GLOB rows CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/${row_folder}/*.cpp)
    set(inc "")
    foreach(row ${rows})
      get_filename_component(stem ${row} NAME_WE)
      string(APPEND inc "NEURON_ROW(${stem})\n")
      list(APPEND srcs ${row})
    endforeach()
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/${folder}_${row_folder}_rows.inc CONTENT "${inc}")
  endforeach()
  add_library(neuron_${folder} STATIC ${srcs})
  # Generated rows are part of public headers (isa/instruction.h numbers its opcodes with them).
  target_include_directories(neuron_${folder} PUBLIC ${CMAKE_BINARY_DIR}/generated)
  target_compile_options(neuron_${folder} PUBLIC -iquote ${CMAKE_SOURCE_DIR}/src)
  foreach(dep ${ARG_DEPS})
    if(NOT TARGET neuron_${dep})
      message(FATAL_ERROR "src/${folder} depends on src/${dep}, which is not declared before it")
    endif()
    target_link_libraries(neuron_${folder} PUBLIC neuron_${dep})
  endforeach()
  target_link_libraries(neuron_${folder} PUBLIC ${ARG_LINK})
endfunction()
