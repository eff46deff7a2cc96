#ifndef FIRN_DEVICE_OWN_FLAGS_H_
#define FIRN_DEVICE_OWN_FLAGS_H_

// Included by headers whose functions depend on the compiler's flags, as loops over elements do.
// Were a file of a program to compile them with other flags, there would be two versions of one
// function, of which the linker keeps either: a slow one, or one for another processor.

#if !defined(FIRN_OWN_FLAGS)  // tools/firn.bzl
#error \
    "This header needs Firn's own compiler flags: build the file with firn_op_library \
(load it from @firn//:firn.bzl; tensor/ops/README.md shows how)."
#endif

#endif  // FIRN_DEVICE_OWN_FLAGS_H_
