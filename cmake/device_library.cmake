# The functions that kernels on a GPU call (backends/exact), as LLVM bitcode that the program carries: compiled by Clang of
# the LLVM that generates the kernels. Without that Clang the GPU target has no such functions, and says so.
# Run as a script (cmake -P) this file writes IN, a binary file, as the C++ source OUT.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(bytes "")
  if(IN)
    file(READ ${IN} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  endif()
  file(WRITE ${OUT} "#include \"backends/llvm/internal/device_library.h\"\nnamespace plumb::backends::codegen {\nnamespace {\nconstexpr unsigned char bytes[] = {${bytes}0};\n}\nstd::span<const unsigned char> nvptx_library() { return {bytes, sizeof bytes - 1}; }\n}\n")
  return()
endif()

find_program(PLUMB_CLANG NAMES clang++-19)
function(plumb_device_library target)
  set(out ${PROJECT_BINARY_DIR}/nvptx_library.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/device_library.cmake)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/exact/*)
  if(PLUMB_CLANG)
    set(bitcode ${PROJECT_BINARY_DIR}/nvptx_library.bc)
    add_custom_command(OUTPUT ${bitcode} DEPENDS ${sources}
      COMMAND ${PLUMB_CLANG} --target=nvptx64-nvidia-cuda -march=sm_80 -std=c++20 -O2 -ffreestanding -nostdinc -fno-exceptions -fno-math-errno -ffp-contract=off
              -I${PROJECT_SOURCE_DIR} -c -emit-llvm ${PROJECT_SOURCE_DIR}/backends/exact/exact.cpp -o ${bitcode} VERBATIM)
  endif()
  add_custom_command(OUTPUT ${out} DEPENDS ${script} ${bitcode} COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DIN=${bitcode} -P ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
