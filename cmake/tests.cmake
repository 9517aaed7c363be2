# One executable of unit tests per station, and scripts that test the program from outside.
enable_testing()
set(test_speed -O0 -U_FORTIFY_SOURCE)
include(cmake/gtest.cmake)
add_library(grm_test_pch OBJECT cmake/pch.cpp)
target_link_libraries(grm_test_pch PUBLIC grm_flags GTest::gtest GTest::gmock)
target_compile_options(grm_test_pch PUBLIC ${test_speed})
target_precompile_headers(grm_test_pch PRIVATE <torch/types.h> <fmt/core.h> <gtest/gtest.h>
                          <gmock/gmock.h>)
file(GLOB test_support CONFIGURE_DEPENDS tests/support/*.cpp)
add_library(grm_test_support STATIC ${test_support})
target_link_libraries(grm_test_support PUBLIC grm_io GTest::gtest GTest::gmock)
target_include_directories(grm_test_support PUBLIC tests)
target_compile_options(grm_test_support PRIVATE ${test_speed})
target_precompile_headers(grm_test_support REUSE_FROM grm_test_pch)

foreach(area ${areas})
  file(GLOB sources CONFIGURE_DEPENDS tests/${area}/*_test.cpp)
  unite(${sources})
  add_executable(${area}_tests ${sources})
  target_compile_definitions(${area}_tests PRIVATE GRM_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${area}_tests PRIVATE grm_${area} grm_test_support GTest::gtest_main)
  # GCC 12 sees uninitialised members inside <regex> when it adds sanitizers.
  target_compile_options(${area}_tests PRIVATE ${test_speed}
                         $<$<BOOL:${GRM_SANITIZE}>:-Wno-maybe-uninitialized>)
  target_precompile_headers(${area}_tests REUSE_FROM grm_test_pch)
  add_test(NAME ${area} COMMAND ${area}_tests)
  set_tests_properties(${area} PROPERTIES LABELS unit TIMEOUT 2400
                       ENVIRONMENT OMP_WAIT_POLICY=passive)
endforeach()

# CPU against GPU. Compiled always, so that it cannot rot; there is something to run with CUDA only.
file(GLOB sources CONFIGURE_DEPENDS tests/cuda/*_test.cpp)
unite(${sources})
add_executable(cuda_tests ${sources} tests/ops/cases_test.cpp)
target_link_libraries(cuda_tests PRIVATE grm_train grm_test_support GTest::gtest_main)
target_compile_options(cuda_tests PRIVATE ${test_speed})
target_precompile_headers(cuda_tests REUSE_FROM grm_test_pch)
if(GRM_CUDA)
  add_test(NAME cuda COMMAND cuda_tests)
  set_tests_properties(cuda PROPERTIES LABELS cuda TIMEOUT 1200 RUN_SERIAL ON)
endif()
file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*_test.sh tests/trust/*_test.sh tests/project/*_test.sh
     tests/attack/*_test.sh)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME ${name} COMMAND bash ${script} $<TARGET_FILE:grm> ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS cli TIMEOUT 1200 SKIP_RETURN_CODE 77)
  # Tests that kill, signal, limit or time programs have the machine for themselves.
  if(name MATCHES "kill|safety|bench|attack|signals|limits|late_torch|blas_core|bounded_memory|fuzz|serve|studio|browser")
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()

if(NOT GRM_SANITIZE)
  include(cmake/fuzz.cmake)
endif()
