# plumb_library(name …): the static library plumb_<name> of every source under its folder. Folders that hold no source
# yet become interface libraries, so that dependants need not care.
#   SOURCES dir     folder, when it is not the name      EXCLUDE dirs   subfolders that belong to another library
#   LINK libs       public                               PRIVATE libs   not seen by dependants' compile lines
#   SYSTEM dirs     private include folders, warnings off  DEFINITIONS   private
function(plumb_library name)
  cmake_parse_arguments(arg "" "SOURCES" "EXCLUDE;LINK;PRIVATE;SYSTEM;DEFINITIONS" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_SOURCES}/*.cpp)
  foreach(dir ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${dir}/")
  endforeach()
  set(target plumb_${name})
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
    target_link_libraries(${target} INTERFACE ${arg_LINK})
  else()
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
    target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE})
    target_include_directories(${target} SYSTEM PRIVATE ${arg_SYSTEM})
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  endif()
  set_property(GLOBAL APPEND PROPERTY PLUMB_LIBRARIES ${target})
endfunction()
