#ifndef FIRN_DEVICE_OWN_FLAGS_H_
#define FIRN_DEVICE_OWN_FLAGS_H_

#include "firn/device/internal/level_tag.h"

// Included by headers whose functions depend on the compiler's flags, as loops over elements do.
// If a file of a program compiled them with other flags, there would be two versions of one
// function, and the linker might keep the slow one, or one for another processor.

#if !defined(FIRN_OWN_FLAGS)  // tools/bazel/firn.bzl
#error \
    "This header needs Firn's own compiler flags: build the file with firn_op_library \
(load it from @firn//:firn.bzl; tensor/ops/README.md shows how) or CMake's firn_add_op_library \
(docs/packaging.md)."
#endif

namespace firn::inner::internal {

// `retain`: the linker must not drop this variable as unused, or it would not look for the tag.
#if defined(__CUDACC__)
// nvcc's host compiler compiles the .cc files of the same kernels too, which bring the tag.
#else
__attribute__((used, retain)) static const int* const level_tag =
    &this_object_and_firn_must_be_compiled_for_one_level::FIRN_LEVEL_TAG;
#endif

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_OWN_FLAGS_H_
