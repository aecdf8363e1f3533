# What `cmake --install` puts where, in two components: `runtime` (the program) and `development` (the library).
if(NOT DEFINED CMAKE_INSTALL_LIBDIR AND CMAKE_LIBRARY_ARCHITECTURE)
  # Where Debian keeps the libraries of this architecture; CMake and pkg-config look there below every prefix they know.
  set(CMAKE_INSTALL_LIBDIR "lib/${CMAKE_LIBRARY_ARCHITECTURE}" CACHE PATH "Folder of libraries, below the prefix")
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- runtime: the program, its manual, its completions, examples
install(TARGETS attn-cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)

# The program itself prints its man page and completions, from the tables that its parser reads. The environment is
# emptied: defaults of whoever builds must not get in.
set(made "${PROJECT_BINARY_DIR}/install")
set(run_clean env -i XDG_CONFIG_HOME=/nonexistent "$<TARGET_FILE:attn-cli>")
add_custom_command(
  OUTPUT "${made}/attn-cli.1.gz" "${made}/attn-cli.bash" "${made}/attn-cli.zsh" "${made}/attn-cli.fish"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${made}"
  COMMAND ${run_clean} man > attn-cli.1
  COMMAND gzip -9nf attn-cli.1
  COMMAND ${run_clean} completion bash > attn-cli.bash
  COMMAND ${run_clean} completion zsh > attn-cli.zsh
  COMMAND ${run_clean} completion fish > attn-cli.fish
  DEPENDS attn-cli WORKING_DIRECTORY "${made}" COMMENT "Writing the man page and the completions" VERBATIM)
add_custom_command(
  OUTPUT "${made}/changelog.gz"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${made}"
  COMMAND gzip -9nc "${PROJECT_SOURCE_DIR}/packaging/changelog" > "${made}/changelog.gz"
  DEPENDS "${PROJECT_SOURCE_DIR}/packaging/changelog" COMMENT "Packing the changelog" VERBATIM)
add_custom_target(attn_manual ALL DEPENDS "${made}/attn-cli.1.gz" "${made}/changelog.gz")

install(FILES "${made}/attn-cli.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
set(data "${CMAKE_INSTALL_DATADIR}")
install(FILES "${made}/attn-cli.bash" DESTINATION "${data}/bash-completion/completions" RENAME attn-cli COMPONENT runtime)
install(FILES "${made}/attn-cli.zsh" DESTINATION "${data}/zsh/vendor-completions" RENAME _attn-cli COMPONENT runtime)
install(FILES "${made}/attn-cli.fish" DESTINATION "${data}/fish/vendor_completions.d" COMPONENT runtime)

set(documents "${CMAKE_INSTALL_DATAROOTDIR}/doc")
file(GLOB samples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/samples/*.*")
install(FILES ${samples} DESTINATION "${documents}/attn-cli/examples" COMPONENT runtime)
install(FILES docs/batch.md docs/recipes.md DESTINATION "${documents}/attn-cli" COMPONENT runtime)

# --- development: the static library with all its objects, the public headers, and how to find them
target_compile_features(attn PUBLIC cxx_std_20)
install(TARGETS attn EXPORT attnTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY lib/include/attn DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.hpp")

set(config "${CMAKE_INSTALL_LIBDIR}/cmake/attn")
install(EXPORT attnTargets NAMESPACE attn:: DESTINATION "${config}" COMPONENT development)
configure_package_config_file(cmake/attnConfig.cmake.in "${made}/attnConfig.cmake" INSTALL_DESTINATION "${config}")
# Below 1.0 a new minor version may change what programs rely on.
write_basic_package_version_file("${made}/attnConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${made}/attnConfig.cmake" "${made}/attnConfigVersion.cmake" DESTINATION "${config}" COMPONENT development)

# The prefix is told from where the file lies, so that an installed tree may be moved.
file(RELATIVE_PATH ATTN_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" ATTN_PC_PREFIX "${ATTN_PC_PREFIX}")
configure_file(cmake/attn.pc.in "${made}/attn.pc" @ONLY)
install(FILES "${made}/attn.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
install(FILES samples/library/main.cpp samples/library/CMakeLists.txt DESTINATION "${documents}/libattn-dev/examples" COMPONENT development)

foreach(pair "attn-cli:runtime" "libattn-dev:development")
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 package)
  list(GET pair 1 component)
  install(FILES packaging/copyright "${made}/changelog.gz" DESTINATION "${documents}/${package}" COMPONENT ${component})
endforeach()
