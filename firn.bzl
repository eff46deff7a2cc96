"""What other workspaces load from Firn: load("@firn//:firn.bzl", "firn_op_library")."""

load("//tools/bazel:firn.bzl", _firn_op_library = "firn_op_library")

firn_op_library = _firn_op_library
