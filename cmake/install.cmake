# Two components: `program`, which `make deb` packs, and `dev`, the stations up to train as a CMake
# package for other C++ programs. `cmake --install` installs both.
include(CMakePackageConfigHelpers)

# --- program ---------------------------------------------------------------------------------------
install(TARGETS grm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS grm-engine RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/grm COMPONENT program)
install(FILES $<TARGET_FILE:grm-engine>.help DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/grm
        COMPONENT program)
install(DIRECTORY studies DESTINATION ${CMAKE_INSTALL_DATADIR}/grm COMPONENT program
        FILES_MATCHING PATTERN "*.toml")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(CODE "execute_process(
  COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/scripts/shell_files.sh $<TARGET_FILE:grm>
          \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR \"manual pages and completions could not be made\")
  endif()" COMPONENT program)

# --- dev -------------------------------------------------------------------------------------------
set(installed_areas ${areas})
list(REMOVE_ITEM installed_areas study report serve)
list(REVERSE installed_areas)
set(archives "")
foreach(area ${installed_areas})
  list(APPEND archives grm_${area})
endforeach()
set(GRM_READER_LIBRARIES "")
if(GRM_FMT_LINKS)
  list(APPEND GRM_READER_LIBRARIES fmt)
endif()
if(GRM_WITH_LIBZIP)
  list(APPEND GRM_READER_LIBRARIES zip)
endif()
if(GRM_WITH_GLOO)
  list(APPEND GRM_READER_LIBRARIES gloo)
endif()
if(METIS_INCLUDE AND METIS_LIBRARY)
  list(APPEND GRM_READER_LIBRARIES metis)
endif()
if(GRM_CUDA)
  list(APPEND installed_areas cuda_kernels)
  list(APPEND archives grm_cuda_kernels)
  list(APPEND GRM_READER_LIBRARIES cudart)
endif()
install(TARGETS ${archives} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY include/grm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/grm/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/grm COMPONENT dev)
list(JOIN installed_areas " " GRM_INSTALLED_AREAS)
list(JOIN GRM_READER_LIBRARIES " " GRM_READER_LIBRARIES)
set(GRM_TORCH_PREFIX "${torch_prefix}")
configure_package_config_file(cmake/grmConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/grmConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/grm)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/grmConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/grmConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/grmConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/grm COMPONENT dev)

# --- make deb --------------------------------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the GRM developers <grm@localhost>")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME grm)
set(CPACK_DEBIAN_PROGRAM_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "graph classifiers that hold up on domains never seen in training
Trains, compares and explains classifiers of nodes and graphs whose test
data come from other domains than the training data.")
# With the reference BLAS training is four times slower, and ends with other bits.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS libopenblas0-pthread)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gnuplot-nox, graphviz")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_SOURCE_GENERATOR "")
include(CPack)
