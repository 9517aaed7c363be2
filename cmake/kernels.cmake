# The kernels for processors, src/*/cpu/*.cpp: raw pointers, no torch header. They alone are compiled
# for more than the oldest x86-64 processor, once for each variant, and one variant is chosen when the
# program runs (core/cpu_variant.h).
set(variants ${GRM_CPU_VARIANTS})
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(variants plain)
elseif(variants STREQUAL all)
  set(variants v2 v3 v4)
elseif(variants STREQUAL native)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/nothing.cpp "")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E
                          ${CMAKE_CURRENT_BINARY_DIR}/nothing.cpp OUTPUT_VARIABLE machine)
  set(variants v4)
  foreach(flag AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL)
    if(NOT machine MATCHES "__${flag}__")
      set(variants v3)
    endif()
  endforeach()
  foreach(flag AVX2 BMI BMI2 F16C FMA LZCNT MOVBE)
    if(NOT machine MATCHES "__${flag}__")
      set(variants v2)
    endif()
  endforeach()
endif()
string(REPLACE ";" "," names "${variants}")
target_compile_definitions(grm_flags INTERFACE GRM_CPU_VARIANTS=${names})
message(STATUS "Kernels for processors: ${names}")

# Processors that a variant is tuned for. It decides where a product and a sum are rounded once: with
# znver3 the kernels give the bits that -march=native gave on the machine of the published results.
set(tune_v2 generic)
set(tune_v3 znver3)
set(tune_v4 sapphirerapids)

# Adds kernels to a library. All that they define is local but what the library asks for by variant
# (core/kernel.h): an inline function of the standard library that was compiled for AVX-512 must not
# become the one that the whole program uses. tests/project/variants_test.sh looks.
function(cpu_kernels library)
  if(NOT ARGN)
    return()
  endif()
  foreach(variant ${variants})
    set(part ${library}_${variant})
    add_library(${part} OBJECT ${ARGN})
    target_link_libraries(${part} PRIVATE grm_flags)
    target_compile_definitions(${part} PRIVATE GRM_CPU_VARIANT=${variant})
    target_compile_options(${part} PRIVATE -O3 -fno-math-errno -fno-trapping-math)
    if(NOT variant STREQUAL plain)
      target_compile_options(${part} PRIVATE -march=x86-64-${variant}
                             -mtune=${tune_${variant}})
    endif()
    set_target_properties(${part} PROPERTIES UNITY_BUILD OFF)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${part}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:${part}>
      COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=_ZN3grm10cpu_kernel* ${object}
      DEPENDS $<TARGET_OBJECTS:${part}>
      COMMENT "Joining ${part}"
      COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${library} PRIVATE ${object})
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  endforeach()
endfunction()
