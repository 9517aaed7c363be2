# Sets what find_package(Torch) would, from the folder of a pip torch.
file(STRINGS ${GRM_TORCH_ROOT}/version.py version_line REGEX "^__version__")
string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" Torch_VERSION "${version_line}")
set(TORCH_INCLUDE_DIRS ${GRM_TORCH_ROOT}/include ${GRM_TORCH_ROOT}/include/torch/csrc/api/include)
set(torch_names torch torch_cpu c10)
if(GRM_CUDA)
  list(APPEND torch_names torch_cuda c10_cuda)
endif()
# Operators register themselves when their library is loaded: none may be left out as unused. The
# C++ library comes first: libtorch.so of the wheels exports parts of an older one, which crash.
set(TORCH_LIBRARIES -Wl,--no-as-needed -lstdc++)
foreach(name ${torch_names})
  find_library(TORCH_LIB_${name} ${name} PATHS ${GRM_TORCH_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
  list(APPEND TORCH_LIBRARIES ${TORCH_LIB_${name}})
endforeach()
list(APPEND TORCH_LIBRARIES -Wl,--as-needed -Wl,--allow-shlib-undefined)
set(GRM_TORCH_CXX11_ABI 1 CACHE STRING "torch.compiled_with_cxx11_abi() of that torch, as 0 or 1")
set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=${GRM_TORCH_CXX11_ABI}")
