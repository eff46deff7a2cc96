"""The targets of pages of operations, found by file name: nobody edits a list.

Those below a folder of families (op_libraries):

    family/page.h             attributes, the functions and their documentation
    family/page_fn.h          optional: scalar functors, for the host and for devices
    family/page_body.h        optional: bodies of kernels, for the host and for devices or for the
                              CPU alone
    family/page.cc            OpDefs and their CPU kernels     -> :family/page (alwayslink: they
                                                                  register themselves)
    family/page_samples.cc    testonly: samples                -> :samples, all of them (alwayslink)
    family/page.cu            CUDA kernels of Firn's own       -> :cuda_kernels, all of them, which
    family/page_cuda.cc       CUDA kernels of libraries           are linked only with --config=cuda

What a family shares has the same kinds of files: shape rules in .h and .cc, helpers of samples in
_samples.h and _samples.cc.

A page that must see code above tensor/ is in the folder of that code, whose BUILD calls op_pages as
op_libraries does (optim/BUILD).

An implementation may include any operation's header but depends on no other implementation: a sum's
gradient expands and an expansion's gradient sums, and only headers keep Bazel acyclic.
"""

load("//tools/bazel:cuda.bzl", "firn_cuda_objects")
load("//tools/bazel:firn.bzl", "FIRN_KERNEL_COPTS", "firn_library", "firn_link_only", "firn_precompiled_header")
load("//tools/bazel:levels.bzl", "firn_level_kernels")

def op_pages(
        pages,
        cu,
        cuda_cc,
        samples,
        sample_headers,
        deps,
        cpu_deps,
        cuda_deps,
        sample_deps,
        visibility,
        all_kernels = True,
        parts = {},
        page_deps = {}):
    """Defines a target for every page, :op_pages with them all, :samples and :op_names.

    A package calls it once: the names of targets are fixed.

    Args:
      pages: their names; each has a .cc file.
      cu: .cu files, or targets that write them.
      cuda_cc: _cuda.cc files.
      samples: _samples.cc files.
      sample_headers: _samples.h files.
      deps: what implementations for every device may use, the pages' own headers among them.
      cpu_deps: what pages may use besides, but not their CUDA kernels.
      cuda_deps: what CUDA kernels may use besides, but not pages.
      sample_deps: what samples may use.
      visibility: visibility of all targets except the pages' own.
      all_kernels: see firn_level_kernels.
      parts: a dict from names of targets to the pages that each links, for programs that need no others. A
        build for several levels of processors, or for devices, links its other kernels for all pages at
        once: there a part is :op_pages.
      page_deps: a dict from pages to what each may use besides the others.
    """
    for page in pages:
        firn_library(
            name = page,
            srcs = [page + ".cc"],
            copts = FIRN_KERNEL_COPTS,
            precompiled = "//tensor/ops:page_headers",
            alwayslink = True,
            deps = deps + cpu_deps + page_deps.get(page, []),
        )
    firn_cuda_objects(
        name = "cuda_objects",
        srcs = cu,
        deps = deps + cuda_deps,
    )
    firn_library(
        name = "cuda_kernels_library",
        srcs = select({
            "//tools/bazel:cuda": [":cuda_objects"] + cuda_cc,
            "//conditions:default": [],
        }),
        alwayslink = True,
        visibility = ["//visibility:private"],
        deps = select({
            "//tools/bazel:cuda": deps + cuda_deps,
            "//conditions:default": [],
        }),
    )
    firn_link_only(
        name = "cuda_kernels",
        visibility = ["//visibility:private"],
        deps = [":cuda_kernels_library"],
    )

    # Compiles all sources again for higher levels of processors, if one program has all levels.
    levels = ["x86-64-v3", "x86-64-v4"]
    for level in levels:
        firn_level_kernels(
            name = "kernels_" + level,
            all_kernels = all_kernels,
            section = "firn_" + level.replace("-", "_"),
            level = level,
            tags = ["manual"],
            deps = [":" + p for p in pages],
        )
    firn_library(
        name = "levels",
        srcs = select({
            "//tools/bazel:march_portable": [":kernels_" + level for level in levels],
            "//conditions:default": [],
        }),
        alwayslink = True,
        visibility = ["//visibility:private"],
        deps = ["//tensor:level_kernels"],
    )
    firn_library(
        name = "op_pages",
        visibility = visibility,
        deps = [":cuda_kernels", ":levels"] + [":" + p for p in pages],
    )

    # The conditions may both hold, so each has a target.
    firn_library(
        name = "all_for_levels",
        visibility = ["//visibility:private"],
        deps = select({
            "//tools/bazel:march_portable": [":op_pages"],
            "//conditions:default": ["//tensor:level_kernels"],
        }),
    )
    firn_library(
        name = "all_for_devices",
        visibility = ["//visibility:private"],
        deps = select({
            "//tools/bazel:cuda": [":op_pages"],
            "//conditions:default": [],
        }),
    )
    for part in parts:
        firn_library(
            name = part,
            visibility = visibility,
            deps = [":all_for_devices", ":all_for_levels"] + [":" + p for p in parts[part]],
        )

    # The operations that the sources define, for a test that they are all registered: "add", ...
    native.genrule(
        name = "op_names",
        testonly = True,
        srcs = [p + ".cc" for p in pages],
        outs = ["op_names.inc"],
        cmd = "grep -hoE '^FIRN_REGISTER_OP\\([a-z0-9_]+\\)' $(SRCS) | " +
              "sed -E 's/.*\\((.*)\\)/\"\\1\",/' > $@",
        visibility = visibility,
    )
    firn_library(
        name = "samples",
        testonly = True,
        srcs = samples,
        hdrs = sample_headers,
        alwayslink = True,
        visibility = visibility,
        deps = sample_deps,
    )

def op_libraries(files, basic, deps, cpu_deps, family_deps, cuda_deps, sample_deps, visibility):
    """Defines :op_headers, a target for every page, :ops with them all, :basic, :samples and lists.

    The lists are :public_headers, the files that users include, :functor_headers and :op_names.

    Args:
      files: all the files of the families (a glob).
      basic: sources of pages that call no others: :basic links them.
      deps: what implementations for every device may use, beside the headers.
      cpu_deps: what pages may use besides, but not their CUDA kernels.
      family_deps: a dict from families to what their pages may use besides.
      cuda_deps: what CUDA kernels may use besides, but not pages.
      sample_deps: what samples may use, beside the headers.
      visibility: visibility of all targets except the pages' own.
    """
    sources = [f[:-3] for f in files if f.endswith(".cc")]
    samples = [s + ".cc" for s in sources if s.endswith("_samples")]
    sample_headers = [f for f in files if f.endswith("_samples.h")]
    headers = [f for f in files if f.endswith(".h") and f not in sample_headers]
    pages = [s for s in sources if not s.endswith("_samples") and not s.endswith("_cuda")]

    firn_library(
        name = "op_headers",
        hdrs = headers,
        visibility = visibility,
        deps = [
            "//tensor:core",
            "//tensor:promotion",
            "//tensor:sizes",
            "//device:inner",
            "//device/comm:kinds",
            "//tensor:rng",
            "//tensor/kernels:axes",
            "//tensor/kernels:for_each",
            "//tensor/kernels:math",
            "//tensor/kernels:math_half",
            "//tensor/kernels:numbers",
            "//tensor/kernels:optimizer_rule",
            "//tensor/problems",
        ],
    )
    native.filegroup(
        name = "public_headers",
        srcs = [f for f in headers if not f.endswith("_fn.h") and not f.endswith("_body.h")],
        visibility = visibility,
    )

    # Functors and their attributes, as text for CUDA kernels that are compiled at run time.
    native.filegroup(
        name = "functor_headers",
        srcs = [f for f in headers if f.endswith("_fn.h") or f[:-2] + "_fn.h" in headers],
        visibility = ["//tensor:__subpackages__"],
    )
    firn_precompiled_header(
        name = "page_headers",
        copts = FIRN_KERNEL_COPTS,
        headers = [
            "firn/tensor/apply.h",
            "firn/tensor/error.h",
            "firn/tensor/kernels/cpu/elementwise_ops.h",
        ],
        visibility = ["//tensor/ops:__pkg__", "//optim:__pkg__"],
        deps = [":op_headers"] + deps + cpu_deps,
    )
    op_pages(
        pages = pages,
        cu = [f for f in files if f.endswith(".cu")],
        cuda_cc = [f for f in files if f.endswith("_cuda.cc")],
        samples = samples,
        sample_headers = sample_headers,
        deps = [":op_headers"] + deps,
        cpu_deps = cpu_deps,
        cuda_deps = cuda_deps,
        sample_deps = [":op_headers"] + sample_deps,
        visibility = visibility,
        parts = {"basic": [f[:-3] for f in basic if f[:-3] in pages]},
        page_deps = {page: family_deps.get(page.partition("/")[0], []) for page in pages},
    )
    firn_library(
        name = "ops",
        visibility = visibility,
        deps = [":op_headers", ":op_pages"],
    )
