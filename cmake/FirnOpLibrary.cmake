# For programs with operations of their own; installed with the library.
#
#   firn_add_op_library(NAME SOURCE...)
#
# A library of operations, compiled like Firn's own: kernels are fast only with Firn's flags, and the headers of kernels
# refuse other flags. The operations stay in every program that links the library, even if the program does not name
# them.
function(firn_add_op_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC firn::firn)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE "$<TARGET_PROPERTY:firn::firn,FIRN_OP_COPTS>")
  target_link_options(${name} INTERFACE "LINKER:--whole-archive,$<TARGET_FILE:${name}>,--no-whole-archive")
endfunction()
