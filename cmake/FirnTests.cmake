# `ctest` runs the program `firn`, and the program in README.md. Bazel's build tests everything
# else.
if(FIRN_PROGRAM)
  add_test(NAME firn_version COMMAND firn_program version)
  set_tests_properties(firn_version PROPERTIES PASS_REGULAR_EXPRESSION "^firn ${PROJECT_VERSION}\n")
  add_test(NAME firn_info COMMAND firn_program info)
endif()

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(readme_folder "${PROJECT_BINARY_DIR}/readme")
  file(MAKE_DIRECTORY "${readme_folder}")
  add_custom_command(OUTPUT "${readme_folder}/main.cc"
    COMMAND Python3::Interpreter tools/scripts/doc_blocks.py README.md --program "${readme_folder}/main.cc"
    DEPENDS README.md tools/scripts/doc_blocks.py
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Taking the program out of README.md" VERBATIM)
  add_executable(firn_readme "${readme_folder}/main.cc")
  set_target_properties(firn_readme PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${readme_folder}")
  target_link_libraries(firn_readme PRIVATE firn::firn)
  add_test(NAME readme COMMAND firn_readme WORKING_DIRECTORY "${readme_folder}")
else()
  message(STATUS "firn: without Python README.md's program is not tested")
endif()
