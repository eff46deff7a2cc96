# The library, and firn::firn, which programs link. Operations register themselves when a program
# starts and nothing names them, so a program links the whole static library.

# Headers are included as "firn/tensor/tensor.h": links of that name lead to the folders. Headers that are generated
# during the build have a second folder.
set(FIRN_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
set(FIRN_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${FIRN_INCLUDE_DIR}/firn")
file(GLOB root_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" *.h)
foreach(name IN LISTS FIRN_FOLDERS root_headers)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${name}" "${FIRN_INCLUDE_DIR}/firn/${name}" SYMBOLIC)
endforeach()

# firn_generate(PATH KIND FILE...): PATH of the generated folder, by tools/scripts/generate_source.
function(firn_generate path kind)
  set(out "${FIRN_GENERATED_DIR}/firn/${path}")
  get_filename_component(folder "${out}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  # If its text is the same, the file stays untouched and nothing is compiled again.
  add_custom_command(OUTPUT "${out}"
    COMMAND tools/scripts/generate_source ${kind} ${ARGN} > "${out}.new"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${out}.new" "${out}"
    COMMAND ${CMAKE_COMMAND} -E touch "${out}"
    DEPENDS tools/scripts/generate_source ${ARGN}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Writing firn/${path}" VERBATIM)
endfunction()

file(GLOB op_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" tensor/ops/*/*.h)
list(FILTER op_headers EXCLUDE REGEX "_(fn|body|samples)\\.h$")
list(SORT op_headers)
firn_generate(tensor/ops.h ops_h ${op_headers})
file(GLOB optim_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" optim/*.cc)
firn_generate(optim/optimizers.h optimizers_h ${optim_sources})
file(GLOB layer_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" nn/*.h)
list(SORT layer_headers)
firn_generate(nn/layers.h layers_h ${layer_headers})
firn_generate(nn/layer_types.inc layer_types ${layer_headers})
file(GLOB zoo_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" nn/zoo/*.h)
list(SORT zoo_headers)
firn_generate(nn/zoo/families.inc zoo_families ${zoo_headers})
file(GLOB class_names CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" nn/zoo/class_names/*.txt)
list(SORT class_names)
firn_generate(nn/zoo/class_names_data.cc class_names ${class_names})
set(generated_headers tensor/ops.h nn/layers.h optim/optimizers.h)
set(written_headers ${generated_headers} nn/layer_types.inc nn/zoo/families.inc)
list(TRANSFORM written_headers PREPEND "${FIRN_GENERATED_DIR}/firn/")
add_custom_target(firn_headers DEPENDS ${written_headers})
firn_generate(io/data/internal/digits_data.cc digits_data io/data/digits.csv.gz)
set(generated io/data/internal/digits_data.cc nn/zoo/class_names_data.cc)
if(FIRN_CUDA)
  include(FirnCuda)
endif()
list(TRANSFORM generated PREPEND "${FIRN_GENERATED_DIR}/firn/")

# The libraries with which it is linked, beside the standard ones.
set(FIRN_LINKED firn::dnnl firn::hdf5 ZLIB::ZLIB PNG::PNG JPEG::JPEG TIFF::TIFF GIF::GIF)
list(TRANSFORM FIRN_ABSL PREPEND "absl::" OUTPUT_VARIABLE FIRN_ABSL_TARGETS)

# firn_objects(NAME "FLAGS" SOURCE...): objects that become a part of the library.
function(firn_objects name flags)
  add_library(${name} OBJECT ${ARGN})
  add_dependencies(${name} firn_headers)
  target_compile_options(${name} PRIVATE ${FIRN_COPTS} ${flags})
  target_include_directories(${name} PRIVATE "${FIRN_INCLUDE_DIR}" "${FIRN_GENERATED_DIR}")
  target_link_libraries(${name} PRIVATE ${FIRN_ABSL_TARGETS} ${FIRN_LINKED} ${FIRN_CUDA_LINKED} Eigen3::Eigen
    cereal::cereal)
  target_compile_definitions(${name} PRIVATE EIGEN_MPL2_ONLY)
  if(BUILD_SHARED_LIBS)
    # Calls within the library need no look-up.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${name} PRIVATE -fno-semantic-interposition)
  endif()
endfunction()

# Headers that take longer to read than most sources to compile (tensor/BUILD,
# tensor/ops/op_library.bzl).
function(firn_precompile name)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # g++ gives these warnings for other libraries' code that it reads precompiled.
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-unknown-warning-option)
endfunction()

set(core_headers "\"firn/tensor/apply.h\"" "\"firn/tensor/error.h\"")
set(page_headers ${core_headers} "\"firn/tensor/kernels/cpu/elementwise_ops.h\"")
firn_objects(firn_core "" ${FIRN_SOURCES} ${generated})
firn_precompile(firn_core ${core_headers})
firn_objects(firn_loops "${FIRN_KERNEL_COPTS}" ${FIRN_KERNEL_SOURCES})
firn_objects(firn_kernels "${FIRN_KERNEL_COPTS}" ${FIRN_LEVEL_SOURCES})
firn_precompile(firn_kernels ${page_headers})
firn_objects(firn_baseline "${FIRN_BASELINE_COPTS}" ${FIRN_BASELINE_SOURCES})
set(objects firn_core firn_loops firn_kernels firn_baseline)
if(FIRN_CUDA_SOURCES)
  list(APPEND objects firn_cuda)
endif()
# The objects of a target include its precompiled headers, which are left out here.
list(TRANSFORM objects REPLACE "(.+)" "$<FILTER:$<TARGET_OBJECTS:\\1>,INCLUDE,\\\\.o$>")

# Kernels of higher levels, each level linked to one object (tools/bazel/levels.bzl).
foreach(level IN LISTS FIRN_HIGHER_LEVELS)
  set(flags ${FIRN_KERNEL_COPTS} -march=${level})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND flags -fno-gnu-unique)
  endif()
  firn_objects(firn_kernels_${level} "${flags}" ${FIRN_LEVEL_SOURCES})
  firn_precompile(firn_kernels_${level} ${page_headers})
  string(REPLACE "-" "_" section firn_${level})
  set(object "${PROJECT_BINARY_DIR}/${section}.o")
  set(kernels "$<FILTER:$<TARGET_OBJECTS:firn_kernels_${level}>,INCLUDE,\\.o$>")
  add_custom_command(OUTPUT "${object}"
    COMMAND "${PROJECT_SOURCE_DIR}/tools/bazel/link_level" "${object}" ${section} "${kernels}"
    DEPENDS tools/bazel/link_level "${kernels}"
    COMMENT "Linking the kernels of ${level}" COMMAND_EXPAND_LISTS VERBATIM)
  list(APPEND objects "${object}")
endforeach()

add_library(firn_library ${objects})
# If a command reads another target's objects, make knows the files but not that the target must be
# built first.
foreach(level IN LISTS FIRN_HIGHER_LEVELS)
  add_dependencies(firn_library firn_kernels_${level})
endforeach()
set_target_properties(firn_library PROPERTIES
  OUTPUT_NAME firn EXPORT_NAME library LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# gomp: g++'s OpenMP, whichever compiler builds (device/internal/openmp.h).
target_link_libraries(firn_library PUBLIC ${FIRN_ABSL_TARGETS}
  PRIVATE ${FIRN_LINKED} ${FIRN_CUDA_LINKED} gomp Threads::Threads ${CMAKE_DL_LIBS} rt)
target_compile_features(firn_library INTERFACE cxx_std_20)
target_include_directories(firn_library INTERFACE "$<BUILD_INTERFACE:${FIRN_INCLUDE_DIR};${FIRN_GENERATED_DIR}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
# They are system headers, so a program with more warnings than Firn gets none for them.
set_target_properties(firn_library PROPERTIES SYSTEM ON)
add_library(firn::library ALIAS firn_library)

add_library(firn INTERFACE)
set_target_properties(firn PROPERTIES FIRN_OP_COPTS "${FIRN_OP_COPTS}" EXPORT_PROPERTIES FIRN_OP_COPTS)
add_dependencies(firn firn_headers)
if(BUILD_SHARED_LIBS)
  target_link_libraries(firn INTERFACE firn::library)
else()
  target_link_libraries(firn INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,firn::library>")
endif()
add_library(firn::firn ALIAS firn)
