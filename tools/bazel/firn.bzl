"""firn_library, firn_op_library, firn_binary, firn_test, firn_benchmark: cc_* rules with Firn's flags.

The flags stand here and not in .bazelrc, so that they hold in consumer workspaces too.
"""

load("@firn_host//:defs.bzl", "CLANG", "NATIVE_MARCH", "PROCESSOR_COPTS", "X86_64")
load("//tools/bazel:includes.bzl", "firn_includes")
load("//tools/bazel:pch.bzl", "precompiled_header", "reads_first")

def _label(name):
    # Resolved against Firn's repository, also when another workspace calls the macros.
    return str(Label("//tools/bazel:" + name))

# g++ makes some names unique in the whole process; tools/bazel/levels.bzl could not make them
# local.
_NO_UNIQUE = [] if CLANG else ["-fno-gnu-unique"]

# Options for code that is compiled for the processor, including nvcc's host code.
FIRN_MARCH = PROCESSOR_COPTS + select({
    _label("march_none"): [],
    _label("march_x86-64-v2"): ["-march=x86-64-v2"],
    _label("march_x86-64-v3"): ["-march=x86-64-v3"],
    _label("march_x86-64-v4"): ["-march=x86-64-v4"],
    _label("march_portable"): ["-march=x86-64-v2"],
    _label("kernels_x86-64-v3"): ["-march=x86-64-v3"] + _NO_UNIQUE,
    _label("kernels_x86-64-v4"): ["-march=x86-64-v4"] + _NO_UNIQUE,
    "//conditions:default": ["-march=" + NATIVE_MARCH] if NATIVE_MARCH else [],
}) + ([
    # For Intel's processors g++ would use only half of AVX-512's vectors. Code that is written for
    # whole vectors (device/simd.h, half_rows.h) would then wait while its halves pass through
    # memory.
    "-mprefer-vector-width=512",
] if X86_64 else [])

# Options for the files that find out what the processor is: they must run on every processor.
FIRN_BASELINE_COPTS = ["-march=x86-64"] if X86_64 else []

_OPTIMISE = select({
    _label("dbg"): [],
    _label("dbg_optimise_1"): [],
    _label("optimise_1"): ["-O1"],
    "//conditions:default": ["-O2"],
})

# By default Clang contracts a product and a sum only within one expression, which is enough for
# kernels. g++ also contracts across expressions, and the result then depends on the loop around
# them.
_CLANG_COPTS = [
    "-Wno-sign-conversion",  # which g++'s -Wconversion does not include
    "-Wno-unknown-warning-option",  # the names of g++'s below and in pch.bzl
    # Conditions of kernels are joined by & and |, so that nothing branches.
    "-Wno-bitwise-conditional-parentheses",
    "-Wno-bitwise-instead-of-logical",
    # Clang warns of FIRN_INDEPENDENT_STEPS if it does not vectorize the loop, as in tests, which
    # are compiled with -Og.
    "-Wno-pass-failed",
]

# This turns on only OpenMP's pragmas for loops: Firn calls libgomp itself
# (device/internal/openmp.h). With the flag, Clang would refuse lambdas that capture structured
# bindings. Clang has pragmas of its own (device/macros.h).
_GCC_COPTS = ["-fopenmp-simd"]

# Third-party headers are system headers to the compiler, so the warnings concern only our code.
FIRN_COPTS = [
    "-std=c++20",
    "-DFIRN_OWN_FLAGS",  # device/own_flags.h tests for it
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
] + (_CLANG_COPTS if CLANG else _GCC_COPTS) + FIRN_MARCH + _OPTIMISE

def _copts(extra):
    return FIRN_COPTS + extra + select({
        _label("werror"): ["-Werror"],
        "//conditions:default": [],
    })

# Options for files with compute loops: full vectorisation, results as IEEE requires (only errno and
# the floating-point exception flags are given up). Elements of integer tensors wrap around.
FIRN_KERNEL_COPTS = select({
    _label("optimise_1"): [],
    "//conditions:default": ["-O3"],
}) + [
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    # Vectors wider than a register of the level are only passed to functions that are inlined.
    "-Wno-psabi",
    # g++ 12 gives this warning for its own AVX-512 intrinsics (GCC bug 105593).
    "-Wno-maybe-uninitialized",
]

# Options for sources that run their own code once and mostly call the library, as tests and
# commands do. They leave out the passes that take a third of the compile time.
FIRN_ONCE_COPTS = select({
    _label("dbg"): [],
    _label("dbg_optimise_1"): [],
    "//conditions:default": ["-Og"],
})

_OPENMP = ["@openmp//:openmp"]

def _link_only_impl(ctx):
    return [CcInfo(linking_context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).linking_context)]

# Links `deps` without their headers and include paths. A dependent compiles as if it did not depend
# on them, so --config=cuda does not recompile code that does not know CUDA.
firn_link_only = rule(
    implementation = _link_only_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

def _headers_impl(ctx):
    headers = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps]
    return [DefaultInfo(runfiles = ctx.runfiles(transitive_files = depset(transitive = headers)))]

# The headers of `deps` and of all that they depend on, for tests that run the compiler.
firn_headers = rule(
    implementation = _headers_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

def firn_precompiled_header(name, headers, deps, copts = [], **kwargs):
    """Headers that take longer to read than most sources that read them to compile.

    Args:
      headers: as sources include them.
      deps: their libraries, which the targets that read them depend on too.
      copts: the flags of the targets that read them: other flags would compile the headers once more.
    """
    precompiled_header(
        name = name,
        copts = _copts(copts),
        headers = headers,
        deps = deps + _OPENMP,
        tags = ["manual"],  # built where a target reads it
        **kwargs
    )

def _reads_first(deps):
    # The headers that a library of the calling package reads precompiled: its sources would read
    # most of them anyway.
    layer = native.package_name().split("/")[0]
    known = deps if type(deps) == "list" else []  # those in a select() are not
    if layer not in ["device", "tensor"] or "//tensor:core" in known or ":core" in known:
        return "//tensor:core_headers"
    return "//device:common_headers"

def _precompiled(label):
    # (copts, deps) of a target that reads `label` first, "//package:name" or None.
    if not label:
        return [], []
    off = _label("not_precompiled")
    return (
        select({off: [], "//conditions:default": reads_first(label)}),
        select({off: [], "//conditions:default": [label]}),
    )

def firn_library(name, srcs = [], hdrs = [], copts = [], deps = [], precompiled = None, **kwargs):
    """cc_library whose headers everybody includes as "firn/<folder>/<file>.h".

    Static linking only, so every source is compiled once and not a second time for a shared object.

    Args:
      precompiled: the firn_precompiled_header that its sources read first. With `copts` the default
        is none, because the header would have to be compiled with them.
    """
    first, header = _precompiled(precompiled or (_reads_first(deps) if srcs and not copts else None))
    firn_includes(
        name = name + "_include",
        files = srcs + hdrs,
        testonly = kwargs.get("testonly"),
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = _copts(copts) + first,
        deps = deps + header + _OPENMP + [":" + name + "_include"],
        linkstatic = True,
        **kwargs
    )

def firn_op_library(name, copts = [], deps = [], **kwargs):
    """cc_library for a program's own operations, compiled like Firn's.

    Kernels are fast only with Firn's flags, and the headers of kernels refuse other flags. The
    operations stay in every program that depends on the library, even if the program does not name them.

    Args:
      copts: after Firn's flags.
      deps: "@firn" among them.
    """
    native.cc_library(
        name = name,
        copts = FIRN_COPTS + FIRN_KERNEL_COPTS + copts,
        deps = deps + _OPENMP,
        alwayslink = True,
        linkstatic = True,
        **kwargs
    )

def firn_binary(name, copts = [], deps = [], **kwargs):
    """cc_binary with Firn's flags."""
    native.cc_binary(
        name = name,
        copts = _copts(copts),
        deps = deps + _OPENMP,
        **kwargs
    )

def firn_test(
        name,
        copts = [],
        deps = [],
        size = "small",
        gtest_main = True,
        precompiled = "//tests:test_headers",
        **kwargs):
    """cc_test with Firn's flags and GoogleTest.

    Args:
      copts: after Firn's flags and instead of FIRN_ONCE_COPTS.
      gtest_main: False for a test that brings its own main.
      precompiled: see firn_library; None for a test that reads what a user's program would read.
      tags: "fast" marks tests that CI repeats under the sanitizers, "gpu" marks tests that need a GPU.
    """
    googletest = "gtest_main" if gtest_main else "gtest"
    first, header = _precompiled(None if copts else precompiled)
    native.cc_test(
        name = name,
        copts = _copts(copts or FIRN_ONCE_COPTS) + first,
        deps = deps + header + _OPENMP + ["@com_google_googletest//:" + googletest],
        linkstatic = True,
        size = size,
        **kwargs
    )

def firn_benchmark(name, deps = [], tags = [], **kwargs):
    """firn_binary with Google Benchmark and its main; CI runs it once to see that it works."""
    firn_binary(
        name = name,
        deps = deps + ["@com_google_benchmark//:benchmark_main"],
        tags = tags + ["smoke"],
        testonly = True,
        **kwargs
    )
