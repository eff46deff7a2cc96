# Finds the library's sources by globs. It reads what is special about some of them from Bazel's BUILD files, so that
# nothing is written twice: the sources of rules with FIRN_KERNEL_COPTS or FIRN_BASELINE_COPTS, what is testonly, and
# what a select() on //tools/bazel:cuda chooses between. It sets these variables, with paths from the root:
#
#   FIRN_SOURCES            all but the following
#   FIRN_KERNEL_SOURCES     compute loops that no level but the program's own has
#   FIRN_LEVEL_SOURCES      kernels, of which one program may have those of several levels
#   FIRN_BASELINE_SOURCES   sources compiled for the lowest level
#   FIRN_CUDA_SOURCES       .cu files; only with FIRN_CUDA
#   FIRN_RULE_PAGES         pages of optimizers, whose .cu file is generated during the build
#   FIRN_TEST_HEADERS       headers that are part of no library
#   FIRN_ABSL               what is used of Abseil, such as "statusor"

set(FIRN_FOLDERS device tensor autograd nn optim io)

# Reads a Starlark file without its comments and without the characters that have a meaning in CMake's lists:
# <> stand for [].
function(firn_read_starlark out path)
  file(READ "${PROJECT_SOURCE_DIR}/${path}" text)
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  string(REGEX REPLACE "#[^\n]*" "" text "${text}")
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "<" text "${text}")
  string(REPLACE "]" ">" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The strings in `text` that match `pattern` as a whole, without their quotes.
function(firn_strings out text pattern)
  string(REGEX MATCHALL "\"${pattern}\"" found "${text}")
  string(REPLACE "\"" "" found "${found}")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# The flags of compilers in what a .bzl file defines as `name`.
function(firn_bazel_flags out path name)
  firn_read_starlark(text ${path})
  string(FIND "${text}" "\n${name} = " begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "firn: ${path} has no ${name}")
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n\n" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  firn_strings(flags "${text}" "-[^\"]*")
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# Appends the files that `text` names; `text` is from the BUILD file of `folder`.
macro(firn_add_named out text pattern)
  firn_strings(named "${text}" "[a-z0-9_/]+\\.${pattern}")
  list(TRANSFORM named PREPEND "${folder}/")
  list(APPEND ${out} ${named})
endmacro()

function(firn_find_sources)
  file(GLOB_RECURSE build_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    device/BUILD tensor/BUILD autograd/BUILD nn/BUILD optim/BUILD io/BUILD)
  list(APPEND build_files BUILD)
  # A surrounding program may have variables of these names.
  foreach(list test test_headers baseline kernels levels with_cuda without_cuda absl)
    set(${list} "")
  endforeach()

  # Rules that hold kernels, beside those of whole folders.
  firn_read_starlark(text tools/bazel/levels.bzl)
  string(REGEX MATCHALL "owner.name (in <[^>]*>|== \"[a-z_]+\")" named "${text}")
  firn_strings(level_rules "${named}" "[a-z_]+")
  list(JOIN level_rules "|" level_rules)

  foreach(build IN LISTS build_files)
    get_filename_component(folder ${build} DIRECTORY)
    firn_read_starlark(text ${build})
    string(REGEX MATCHALL "\"@com_google_absl//[a-z/_:]+" used "${text}")
    list(TRANSFORM used REPLACE ".*[/:]" "")
    list(APPEND absl ${used})
    string(REPLACE "\n)" ";" rules "${text}")
    foreach(rule IN LISTS rules)
      if(rule MATCHES "testonly = True")
        firn_add_named(test "${rule}" cc)
        firn_add_named(test_headers "${rule}" h)
      endif()
      if(rule MATCHES "name = \"(${level_rules})\"")
        firn_add_named(levels "${rule}" cc)
      endif()
      if(rule MATCHES "FIRN_BASELINE_COPTS,")
        firn_add_named(baseline "${rule}" cc)
      elseif(rule MATCHES "FIRN_KERNEL_COPTS,")
        firn_add_named(kernels "${rule}" cc)
        if(rule MATCHES "<name \\+ \"\\.cc\">")  # a rule for each of the others of its folder
          file(GLOB others CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${folder}/*.cc)
          firn_add_named(no_others "${text}" cc)
          list(REMOVE_ITEM others ${no_others})
          list(APPEND kernels ${others})
        endif()
      endif()
      string(REGEX MATCHALL "\"//tools/bazel:cuda\": <[^>]*>" selected "${rule}")
      firn_add_named(with_cuda "${selected}" cc)
      if(selected)
        string(REGEX MATCHALL "\"//conditions:default\": <[^>]*>" selected "${rule}")
        firn_add_named(without_cuda "${selected}" cc)
      endif()
    endforeach()
  endforeach()

  file(GLOB root_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" *.cc)
  list(TRANSFORM FIRN_FOLDERS APPEND "/*.cc" OUTPUT_VARIABLE globs)
  list(TRANSFORM FIRN_FOLDERS APPEND "/*.cu" OUTPUT_VARIABLE cuda_globs)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${globs} ${cuda_globs})
  list(APPEND sources ${root_sources})
  list(FILTER sources EXCLUDE REGEX "_samples\\.cc$")
  list(REMOVE_ITEM sources ${test} ${baseline})

  set(cuda ${sources})
  list(FILTER cuda INCLUDE REGEX "\\.cu$")
  list(FILTER sources EXCLUDE REGEX "\\.cu$")
  # Files of pages of operations (tensor/ops/op_library.bzl).
  set(cuda_pages ${sources})
  list(FILTER cuda_pages INCLUDE REGEX "^tensor/ops/.*_cuda\\.cc$")
  if(FIRN_CUDA)
    list(REMOVE_ITEM sources ${without_cuda})
  else()
    list(REMOVE_ITEM sources ${with_cuda} ${cuda_pages})
    set(cuda "")
  endif()

  set(pages ${sources})
  list(FILTER pages INCLUDE REGEX "^tensor/(ops/|kernels/[^/]*$|kernels/cpu/)")
  list(REMOVE_ITEM pages ${cuda_pages})
  # Files of pages of optimizers (optim/BUILD).
  file(GLOB rules CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" optim/*_rule.h)
  list(TRANSFORM rules REPLACE "_rule\\.h$" ".cc")
  list(APPEND pages ${rules})
  list(APPEND levels ${pages})
  list(REMOVE_DUPLICATES levels)
  list(REMOVE_ITEM kernels ${levels})
  list(REMOVE_ITEM sources ${levels} ${kernels})

  set(FIRN_SOURCES ${sources} PARENT_SCOPE)
  set(FIRN_KERNEL_SOURCES ${kernels} PARENT_SCOPE)
  set(FIRN_LEVEL_SOURCES ${levels} PARENT_SCOPE)
  set(FIRN_BASELINE_SOURCES ${baseline} PARENT_SCOPE)
  set(FIRN_CUDA_SOURCES ${cuda} PARENT_SCOPE)
  set(FIRN_RULE_PAGES ${rules} PARENT_SCOPE)
  set(FIRN_TEST_HEADERS ${test_headers} PARENT_SCOPE)
  list(REMOVE_DUPLICATES absl)
  set(FIRN_ABSL ${absl} PARENT_SCOPE)
endfunction()
