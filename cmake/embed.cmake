# Files that a program carries in itself, as text.
#   plumb_embed(target FILES file…)   adds a source to the target: every file, by its path in the repository
#                                     (interpreter/specification/embedded.h reads them back)
# Run as a script (cmake -P) this file writes that source: OUT, ROOT and LIST, a file of paths, one a line.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(STRINGS ${LIST} paths)
  set(text "#include \"interpreter/specification/embedded.h\"\nnamespace plumb::spec {\nnamespace {\nconstexpr EmbeddedFile files[] = {\n")
  foreach(path ${paths})
    file(READ ${ROOT}/${path} content)
    string(APPEND text "{\"${path}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  string(APPEND text "};\n}\nstd::span<const EmbeddedFile> embedded_files() { return files; }\n}\n")
  file(WRITE ${OUT} "${text}")
  return()
endif()

function(plumb_embed target)
  cmake_parse_arguments(arg "" "" "FILES" ${ARGN})
  list(SORT arg_FILES)
  set(list ${PROJECT_BINARY_DIR}/${target}_embedded.list)
  set(out ${PROJECT_BINARY_DIR}/${target}_embedded.cpp)
  list(JOIN arg_FILES "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)
  list(TRANSFORM arg_FILES PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE depends)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${out} DEPENDS ${script} ${list} ${depends}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${list} -P ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
