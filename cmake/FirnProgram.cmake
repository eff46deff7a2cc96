# The program `firn`: commands and formats register themselves, so all sources belong to it.
file(GLOB_RECURSE program_sources CONFIGURE_DEPENDS tools/firn/*.cc)
add_executable(firn_program ${program_sources})
set_target_properties(firn_program PROPERTIES OUTPUT_NAME firn RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
target_compile_options(firn_program PRIVATE ${FIRN_COPTS} "SHELL:-iquote \"${PROJECT_SOURCE_DIR}\"")
# The program prints the versions of all libraries.
target_link_libraries(firn_program PRIVATE firn::firn ${FIRN_LINKED} CLI11::CLI11 nlohmann_json::nlohmann_json)
target_precompile_headers(firn_program PRIVATE "\"firn/tensor/apply.h\"" "\"firn/tensor/error.h\"")
