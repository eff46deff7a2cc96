"""firn_cuda_objects: .cu files compiled by nvcc, some at a time, as objects for a cc_library's srcs.

nvcc gets the headers and include paths of `deps`, and hands Firn's own flags on to the host
compiler. Code is made for sm_80 and sm_90 and, as PTX, for what comes after;
--define=firn_cuda_arch=90 makes it for sm_90 alone, which takes less than half the time.
"""

load("//tools/bazel:batch.bzl", "write_batches")
load("//tools/bazel:firn.bzl", "FIRN_MARCH")

_FLAGS = [
    "-std=c++20",
    "-O3",
    "-DNDEBUG",
    "-DFIRN_OWN_FLAGS",
    "--expt-relaxed-constexpr",
    "--extended-lambda",
    "-Werror=cross-execution-space-call",
    # 20012: __host__ __device__ on a defaulted function is ignored. 186: an unsigned number is compared
    # with 0, in a template for all types. 445: a template parameter that calls name. All three are
    # harmless.
    "-diag-suppress=20012,186,445",
    "-Xcompiler=-Wall,-Wno-unknown-pragmas,-fno-math-errno,-fno-trapping-math,-fwrapv",
    "-Xcompiler=-ffp-contract=off",
]

# Several files are compiled as one, since for a single file three quarters of the time goes into
# headers. They must not share names, so each has a namespace of its own.
_BATCH = 10

_ALL_ARCHS = [
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=[sm_90,compute_90]",
]

def _objects_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    headers = depset(transitive = [c.headers for c in contexts])
    flags = _FLAGS + ctx.attr.archs + ["-Xcompiler=" + f for f in ctx.attr.host_copts]
    for c in contexts:
        flags += ["-isystem=" + d for d in c.system_includes.to_list()]
        flags += ["-I" + d for d in c.includes.to_list() + c.quote_includes.to_list()]
    objects = []
    for batch, srcs in write_batches(ctx, _BATCH, ".cu"):
        out = ctx.actions.declare_file("_batches/" + batch.basename + ".o")
        ctx.actions.run(
            executable = ctx.executable._nvcc,
            arguments = flags + ["-I.", "-c", batch.path, "-o", out.path],
            inputs = depset(srcs + [batch], transitive = [headers]),
            outputs = [out],
            mnemonic = "CudaCompile",
            # tools/scripts/build_times counts the action under the second word.
            progress_message = "Compiling %s with nvcc, %d .cu files" % (batch.short_path, len(srcs)),
            use_default_shell_env = True,
        )
        objects.append(out)
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "archs": attr.string_list(),
        "host_copts": attr.string_list(),
        "_nvcc": attr.label(
            default = "@cuda//:nvcc",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
    },
)

def firn_cuda_objects(name, srcs, deps, **kwargs):
    """The objects of .cu files. Use it in select()s on //tools/bazel:cuda: `bazel build //...` leaves it out."""
    _cuda_objects(
        name = name,
        srcs = srcs,
        deps = deps + ["@cuda//:headers"],
        archs = select({
            str(Label("//tools/bazel:cuda_arch_90")): ["-arch=sm_90"],
            "//conditions:default": _ALL_ARCHS,
        }),
        host_copts = FIRN_MARCH,
        tags = ["manual"],
        **kwargs
    )
