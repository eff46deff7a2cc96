"""The targets of the operation stems in a folder, found by file name: nobody edits a list.

    stem.h             the attributes, the functions and their documentation
    stem_fn.h          optional: the scalar functor of an elementwise operation
    stem.cc            the OpDef and its CPU kernels     -> :stem (alwayslink: it registers itself)
    stem_samples.cc    testonly: samples                 -> :samples, all of them (alwayslink)
    stem.cu            CUDA kernels of Firn's own        -> :cuda_kernels, all of them, which is
    stem_cuda.cc       CUDA kernels of cuBLAS and cuDNN     linked only under --config=cuda

An implementation may include any operation's header but depends on no other implementation: a sum's
gradient expands and an expansion's gradient sums, and only headers keep Bazel acyclic.
"""

load("//tools:batch.bzl", "firn_batches")
load("//tools:cuda.bzl", "firn_cuda_objects")
load("//tools:firn.bzl", "FIRN_KERNEL_COPTS", "firn_library", "firn_link_only")

def op_libraries(files, deps, cuda_deps, sample_deps, visibility):
    """Defines :op_headers, a target for every stem, :ops with them all, :samples and lists.

    The lists are :public_headers, the files that users include, :functor_headers and :op_names.

    Args:
      files: all the files of the folder (a glob).
      deps: what implementations may use, beside the headers.
      cuda_deps: what CUDA kernels may use besides.
      sample_deps: what samples may use, beside the headers.
      visibility: of all but the stems' own targets.
    """
    sources = [f[:-3] for f in files if f.endswith(".cc")]
    samples = [s + ".cc" for s in sources if s.endswith("_samples")]
    stems = [s for s in sources if not s.endswith("_samples") and not s.endswith("_cuda")]

    firn_library(
        name = "op_headers",
        hdrs = [f for f in files if f.endswith(".h")],
        visibility = visibility,
        deps = [
            "//tensor:core",
            "//tensor:rng",
            "//tensor:spatial",
            "//tensor/kernels:math",
        ],
    )
    native.filegroup(
        name = "public_headers",
        srcs = [f for f in files if f.endswith(".h") and not f.endswith("_fn.h")],
        visibility = visibility,
    )

    # Functors and their attributes, as text for CUDA kernels that are compiled at run time.
    native.filegroup(
        name = "functor_headers",
        srcs = [f for f in files if f.endswith(".h") and (
            f.endswith("_fn.h") or f[:-2] + "_fn.h" in files
        )],
        visibility = ["//tensor:__subpackages__"],
    )
    for stem in stems:
        firn_library(
            name = stem,
            srcs = [stem + ".cc"],
            copts = FIRN_KERNEL_COPTS,
            alwayslink = True,
            deps = [":op_headers"] + deps,
        )
    firn_cuda_objects(
        name = "cuda_objects",
        srcs = [f for f in files if f.endswith(".cu")],
        deps = [":op_headers"] + deps + cuda_deps,
    )
    firn_library(
        name = "cuda_kernels_library",
        srcs = select({
            "//tools:cuda": [":cuda_objects"] + [f for f in files if f.endswith("_cuda.cc")],
            "//conditions:default": [],
        }),
        alwayslink = True,
        visibility = ["//visibility:private"],
        deps = [":op_headers"] + select({
            "//tools:cuda": deps + cuda_deps,
            "//conditions:default": [],
        }),
    )
    firn_link_only(
        name = "cuda_kernels",
        visibility = ["//visibility:private"],
        deps = [":cuda_kernels_library"],
    )
    firn_library(
        name = "ops",
        visibility = visibility,
        deps = [":op_headers", ":cuda_kernels"] + [":" + s for s in stems],
    )

    # The operations that the sources define, for a test that they are all registered: "add", ...
    native.genrule(
        name = "op_names",
        testonly = True,
        srcs = [s + ".cc" for s in stems],
        outs = ["op_names.inc"],
        cmd = "grep -hoE '^FIRN_REGISTER_OP\\([a-z0-9_]+\\)' $(SRCS) | " +
              "sed -E 's/.*\\((.*)\\)/\"\\1\",/' > $@",
        visibility = visibility,
    )
    firn_batches(
        name = "sample_batches",
        testonly = True,
        srcs = samples,
        size = 10,
    )
    firn_library(
        name = "samples",
        testonly = True,
        srcs = [":sample_batches"],
        alwayslink = True,
        textual_hdrs = samples,
        visibility = visibility,
        deps = [":op_headers"] + sample_deps,
    )
