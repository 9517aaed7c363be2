# Fuzzing programs, one per table of readers in tests/fuzz/: the readers and what they need, compiled
# by clang with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer. Whatever else is needed is
# linked from the libraries of this build as they are. None is part of `all`; without clang there are
# no such targets.
find_program(FUZZ_CXX NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
if(NOT FUZZ_CXX)
  return()
endif()

set(fuzz_folder ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
file(MAKE_DIRECTORY ${fuzz_folder})
set(fuzz_sanitize -fsanitize=address,undefined -fno-sanitize=vptr,function
    -fno-sanitize-recover=all)
# Without optimisation: compiling takes most of the time of a short fuzzing, and half as long so.
set(fuzz_flags -std=c++${CMAKE_CXX_STANDARD} -O0 -g1 -fno-omit-frame-pointer ${fuzz_sanitize}
    -fsanitize=fuzzer-no-link -Wno-unknown-pragmas
    -I${CMAKE_CURRENT_SOURCE_DIR}/include -I${CMAKE_CURRENT_SOURCE_DIR}/src
    -I${CMAKE_CURRENT_SOURCE_DIR}/tests
    -I${CMAKE_CURRENT_BINARY_DIR}/generated ${torch_flags})
foreach(folder ${TORCH_INCLUDE_DIRS} ${FMT_INCLUDE} ${JSON_INCLUDE} ${TOML_INCLUDE})
  if(NOT folder STREQUAL "/usr/include")
    list(APPEND fuzz_flags -isystem ${folder})
  endif()
endforeach()
set(fuzz_libraries -lz -lgomp)
foreach(library torch torch_cpu c10)
  list(APPEND fuzz_libraries "$<$<TARGET_EXISTS:${library}>:$<TARGET_FILE:${library}>>")
endforeach()
if(GRM_FMT_LINKS)
  list(APPEND fuzz_libraries ${FMT_LIBRARY})
else()
  list(APPEND fuzz_flags -DFMT_HEADER_ONLY)
endif()
if(GRM_WITH_LIBZIP)
  list(APPEND fuzz_flags -DGRM_WITH_LIBZIP)
  list(APPEND fuzz_libraries ${ZIP_LIBRARY})
endif()

# Parsed once; the torch headers take most of the time of a file.
set(fuzz_pch ${fuzz_folder}/pch.h.pch)
file(CONFIGURE OUTPUT ${fuzz_folder}/pch.h CONTENT "#include <torch/types.h>\n#include <fmt/core.h>\n")
add_custom_command(OUTPUT ${fuzz_pch}
  COMMAND ${FUZZ_CXX} ${fuzz_flags} -fpch-instantiate-templates -x c++-header
          ${fuzz_folder}/pch.h -o ${fuzz_pch}
  DEPENDS ${fuzz_folder}/pch.h
  VERBATIM COMMAND_EXPAND_LISTS)

# Compiles `source` to `object`; further arguments are flags.
function(fuzz_object source object)
  add_custom_command(OUTPUT ${object}
    COMMAND ${FUZZ_CXX} ${fuzz_flags} ${ARGN} -include-pch ${fuzz_pch} -MD -MF ${object}.d
            -MT ${object} -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${source} ${fuzz_pch} DEPFILE ${object}.d
    VERBATIM COMMAND_EXPAND_LISTS)
endfunction()

# fuzz_program(name header READERS ... LINK areas... SOURCES ...): the target fuzz_<name> and, for
# each reader of the header's table, a link fuzz_<reader> to it: the name under which the program is
# called says what it reads.
function(fuzz_program name header)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "" "READERS;LINK;SOURCES")
  set(objects ${fuzz_folder}/harness_${name}.o)
  fuzz_object(tests/fuzz/harness.cpp ${objects} "-DGRM_FUZZ_HEADER=\"fuzz/${header}\"")
  foreach(source ${given_SOURCES})
    string(REPLACE "/" "_" object ${source})
    set(object ${fuzz_folder}/${object}.o)
    get_property(known GLOBAL PROPERTY fuzz_objects)
    if(NOT object IN_LIST known)
      fuzz_object(src/${source} ${object})
      set_property(GLOBAL APPEND PROPERTY fuzz_objects ${object})
    endif()
    list(APPEND objects ${object})
  endforeach()
  set(libraries "")
  foreach(area ${given_LINK})
    list(APPEND libraries $<TARGET_FILE:grm_${area}>)
  endforeach()
  set(optional "")
  if("study" IN_LIST given_LINK AND GRM_WITH_SQLITE)
    list(APPEND optional ${SQLite3_LIBRARIES})
  endif()
  if("study" IN_LIST given_LINK AND LIBPQ_INCLUDE AND LIBPQ_LIBRARY)
    list(APPEND optional ${LIBPQ_LIBRARY})
  endif()
  if("data" IN_LIST given_LINK AND METIS_INCLUDE AND METIS_LIBRARY)
    list(APPEND optional ${METIS_LIBRARY})
  endif()
  if("dist" IN_LIST given_LINK AND GRM_WITH_GLOO)
    list(APPEND optional ${GLOO_LIBRARY})
  endif()
  set(links "")
  foreach(reader ${given_READERS})
    list(APPEND links COMMAND ${CMAKE_COMMAND} -E create_symlink fuzz_${name}
         ${fuzz_folder}/fuzz_${reader})
  endforeach()
  add_custom_command(OUTPUT ${fuzz_folder}/fuzz_${name}
    # Files that are compiled together stand in the libraries together, those of the readers, too: the
    # first definition wins, which is the instrumented one.
    COMMAND ${FUZZ_CXX} -fsanitize=fuzzer ${fuzz_sanitize} -Wl,--allow-multiple-definition ${objects}
            -Wl,--start-group ${libraries} -Wl,--end-group ${optional} ${fuzz_libraries}
            -o ${fuzz_folder}/fuzz_${name}
    ${links}
    DEPENDS ${objects} ${libraries}
    VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(fuzz_${name} DEPENDS ${fuzz_folder}/fuzz_${name})
endfunction()

fuzz_program(io io_targets.h
  READERS csv npz idx mat json_lists sst2 safetensors pickle planetoid
  SOURCES io/csv.cpp io/gz_file.cpp io/npz.cpp io/npz_archive.cpp io/npy.cpp io/idx.cpp io/mat.cpp
          io/mat_frame.cpp io/json_lists.cpp io/sst2_graph.cpp io/safetensors.cpp io/planetoid.cpp io/pickle.cpp core/files.cpp
          core/json.cpp core/json_library.cpp)
fuzz_program(train train_targets.h
  READERS checkpoint model record config study
  LINK study train methods nn ops data io dist graph core
  SOURCES train/checkpoint.cpp train/model_file.cpp train/config.cpp train/train_options.cpp train/record.cpp
          study/spec.cpp study/expand.cpp io/safetensors.cpp core/options.cpp core/toml_text.cpp
          core/files.cpp core/json.cpp core/json_library.cpp)
file(GLOB own_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/src src/data/own/*.cpp)
fuzz_program(data data_targets.h
  READERS own_toml own_tables own_long own_npz preprocessing mapped_graphs mapped_parts
  LINK data io dist graph core
  SOURCES ${own_sources} data/mapped/head.cpp data/mapped/read.cpp data/mapped/folder_reader.cpp
          data/mapped/parts_head.cpp data/mapped/parts_read.cpp data/mapped/parted_graph.cpp io/csv.cpp io/npz.cpp io/npz_archive.cpp io/npy.cpp core/options.cpp
          core/toml_text.cpp core/files.cpp core/json.cpp core/json_library.cpp)
fuzz_program(serve serve_targets.h
  READERS http_head http_body
  LINK data io dist graph core
  SOURCES serve/http_head.cpp serve/http.cpp serve/body.cpp data/own/locate.cpp io/npz_write.cpp
          core/files.cpp core/json.cpp core/json_library.cpp)
add_custom_target(fuzz DEPENDS fuzz_io fuzz_train fuzz_data fuzz_serve)
