# grm_cuda_kernels: all .cu files, compiled by nvcc itself, so that CMake's own CUDA support and that
# of torch's CMake files do not get into each other's way. They are compiled when CUDA is asked for.
if(NOT GRM_CUDA)
  return()
endif()
find_program(GRM_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin
             PATHS /usr/local/cuda/bin)
if(NOT GRM_NVCC)
  message(FATAL_ERROR "GRM_CUDA=ON needs nvcc; put it into the PATH or set -DGRM_NVCC=/path/to/nvcc")
endif()
get_filename_component(nvcc_real ${GRM_NVCC} REALPATH)
get_filename_component(cuda_bin ${nvcc_real} DIRECTORY)
get_filename_component(cuda_root ${cuda_bin} DIRECTORY)
set(GRM_CUDA_INCLUDES ${cuda_root}/include)

set(nvcc_flags -O3 -std=c++17 -DNDEBUG -Xcompiler=-fPIC,-Wall)
foreach(arch ${GRM_CUDA_ARCH})
  list(APPEND nvcc_flags -gencode=arch=compute_${arch},code=sm_${arch})
endforeach()

# Objects of the given sources in `out`, each rebuilt when a header that it includes changes.
function(nvcc_objects out)
  set(objects "")
  foreach(source ${ARGN})
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    string(REPLACE "/" "_" name ${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${GRM_NVCC} ${nvcc_flags} -I${CMAKE_CURRENT_SOURCE_DIR}/include -I${CMAKE_CURRENT_SOURCE_DIR}/src
              -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "nvcc ${name}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)
file(GLOB kernel_sources CONFIGURE_DEPENDS src/*/cuda/*.cu)
nvcc_objects(kernel_objects ${kernel_sources})
add_library(grm_cuda_kernels STATIC ${kernel_objects})
set_target_properties(grm_cuda_kernels PROPERTIES LINKER_LANGUAGE CXX)
# The same libcudart as torch's, by its soname: one runtime, one idea of the current device.
find_library(GRM_CUDART cudart HINTS ${cuda_root}/lib64 ${cuda_root}/targets/x86_64-linux/lib
             ${cuda_root}/lib)
if(NOT GRM_CUDART)
  message(FATAL_ERROR "GRM_CUDA=ON needs libcudart beside ${GRM_NVCC}; set -DGRM_CUDART=/path/to/it")
endif()
target_link_libraries(grm_cuda_kernels PUBLIC ${GRM_CUDART} dl rt pthread)

# The kernels against plain loops on the host; needs a GPU to run.
if(GRM_BUILD_TESTS)
  file(GLOB selftest_sources CONFIGURE_DEPENDS tests/cuda/*.cu)
  nvcc_objects(selftest_objects ${selftest_sources})
  add_executable(cuda_selftest ${selftest_objects} src/core/cpu/rng_fill.cpp)
  target_include_directories(cuda_selftest PRIVATE include src)
  target_compile_definitions(cuda_selftest PRIVATE GRM_CPU_VARIANT=plain)
  set_target_properties(cuda_selftest PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(cuda_selftest PRIVATE grm_cuda_kernels)
  enable_testing()
  add_test(NAME cuda_selftest COMMAND cuda_selftest --no-times)
  set_tests_properties(cuda_selftest PROPERTIES LABELS cuda TIMEOUT 600 RUN_SERIAL ON)
endif()
