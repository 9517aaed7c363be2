# The libraries that grm is built with. scripts/setup.sh knows the same list and says what to install.

# The CMake files of a CUDA torch want the whole CUDA toolkit; its headers and libraries are enough.
if(GRM_TORCH_ROOT)
  include(cmake/torch_root.cmake)
elseif(NOT Torch_DIR AND NOT CMAKE_PREFIX_PATH)
  # A pip or conda torch brings its own CMake files; Debian's libtorch-dev is found without help.
  if(Python3_EXECUTABLE)
    set(python ${Python3_EXECUTABLE})
  else()
    set(python python3)
  endif()
  execute_process(COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path)"
                  OUTPUT_VARIABLE torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT EXISTS "${torch_prefix}/Torch")
    set(torch_prefix "")
  endif()
  list(APPEND CMAKE_PREFIX_PATH ${torch_prefix})
endif()
if(NOT GRM_TORCH_ROOT)
  find_package(Torch REQUIRED)
endif()
if(TORCH_CXX_FLAGS)
  separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
endif()
if(Torch_VERSION VERSION_GREATER_EQUAL 2.12)
  set(CMAKE_CXX_STANDARD 20)  # newer torch refuses C++17
else()
  set(CMAKE_CXX_STANDARD 17)
endif()
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)

find_path(FMT_INCLUDE fmt/core.h REQUIRED)
# Compiled, if there is a library that fits: its templates in every file take a quarter of the build.
find_library(FMT_LIBRARY fmt)
if(FMT_LIBRARY)
  include(CheckCXXSourceCompiles)
  # In the order of the build: newer torch brings headers of its own fmt, which the library may not fit.
  set(CMAKE_REQUIRED_INCLUDES ${TORCH_INCLUDE_DIRS} ${FMT_INCLUDE})
  set(CMAKE_REQUIRED_LIBRARIES ${FMT_LIBRARY})
  set(CMAKE_REQUIRED_FLAGS "${TORCH_CXX_FLAGS}")
  check_cxx_source_compiles("#include <fmt/format.h>
                             int main() { return fmt::format(\"{}\", 1.5).empty(); }" GRM_FMT_LINKS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_FLAGS)
endif()

find_path(JSON_INCLUDE nlohmann/json.hpp REQUIRED)
find_path(TOML_INCLUDE toml++/toml.h REQUIRED)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
if(GRM_WITH_LIBZIP)
  find_library(ZIP_LIBRARY zip REQUIRED)
endif()
if(GRM_WITH_SQLITE)
  find_package(SQLite3 REQUIRED)
endif()

# For results in PostgreSQL; without it a database is a SQLite file.
find_path(LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql)
find_library(LIBPQ_LIBRARY pq)
if(NOT LIBPQ_INCLUDE OR NOT LIBPQ_LIBRARY)
  message(STATUS "libpq was not found: results of studies are kept in SQLite only")
endif()

# For `grm serve` and `grm ui`; without it they say what to install. A compiled library, whose classes
# depend on the definitions that it was built with: pkg-config knows them.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  execute_process(COMMAND ${PKG_CONFIG} --cflags-only-other cpp-httplib OUTPUT_VARIABLE httplib_flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE httplib_missing)
  if(httplib_missing EQUAL 0)
    find_library(HTTPLIB_LIBRARY cpp-httplib)
    string(REGEX MATCHALL "CPPHTTPLIB[A-Z_]+" HTTPLIB_DEFINITIONS "${httplib_flags}")
  endif()
endif()
if(NOT HTTPLIB_LIBRARY)
  message(STATUS "cpp-httplib was not found: grm serve and grm ui are left out")
endif()

# For training on several processes: c10d with Gloo. The headers of Gloo must be those of this libtorch;
# Debian has them in a package of their own (libgloo-dev), beside the others.
find_path(C10D_INCLUDE torch/csrc/distributed/c10d/ProcessGroupGloo.hpp HINTS ${TORCH_INCLUDE_DIRS})
find_library(GLOO_LIBRARY gloo)
set(GRM_WITH_GLOO OFF)
if(GLOO_LIBRARY AND EXISTS "${C10D_INCLUDE}/gloo/rendezvous/store.h")
  set(GRM_WITH_GLOO ON)
else()
  message(STATUS "Gloo of libtorch was not found: training runs in one process")
endif()

# For cutting graphs into parts; without it they are cut by hash.
find_path(METIS_INCLUDE metis.h)
find_library(METIS_LIBRARY metis)
if(NOT METIS_INCLUDE OR NOT METIS_LIBRARY)
  message(STATUS "METIS was not found: 'grm data partition' cuts by hash only")
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
