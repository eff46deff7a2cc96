"""The CUDA toolkit of the system: $CUDA_HOME, or /usr/local/cuda.

A machine without one gets a repository whose targets say so when something needs them, so that
builds without --config=cuda do not ask.
"""

_HEADERS = """
cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
)
"""

_STATIC = """
cc_library(
    name = "{name}",
    srcs = ["lib/{file}"],
    linkopts = ["-ldl", "-lrt", "-lpthread"],
    deps = [":headers"],
)
"""

# By path and not as an input: the loader finds the rest of a library's files beside it.
_SHARED = """
cc_library(
    name = "{name}",
    linkopts = [{files}, "-Wl,-rpath,{folder}"],
    deps = [":headers"],
)
"""

_ABSENT = """
[genrule(
    name = name,
    outs = [name + ".h"],
    cmd = "echo 'no CUDA toolkit: neither CUDA_HOME nor /usr/local/cuda has {missing}' >&2; exit 1",
) for name in ["cudart", "cublaslt", "cudnn", "cufft", "cusolver", "headers"]]
exports_files(["nvcc"])
"""

def _first(ctx, folders, name):
    for folder in folders:
        path = ctx.path(folder + "/" + name)
        if path.exists:
            return path
    return None

def _cuda_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    folders = [home + "/lib64", home + "/lib", "/usr/lib/x86_64-linux-gnu"]
    nvcc = ctx.path(home + "/bin/nvcc")
    runtime = _first(ctx, folders, "libcudart_static.a")
    build = "package(default_visibility = [\"//visibility:public\"])\n"
    if not nvcc.exists or not runtime:
        missing = "bin/nvcc" if not nvcc.exists else "libcudart_static.a"
        ctx.file("nvcc", "", executable = True)
        ctx.file("BUILD", build + _ABSENT.format(missing = missing))
        return
    ctx.symlink(home + "/include", "include")
    ctx.symlink(runtime, "lib/libcudart_static.a")
    ctx.file("nvcc", "#!/bin/sh\nexec %s \"$@\"\n" % nvcc, executable = True)
    build += "exports_files([\"nvcc\"])\n" + _HEADERS
    build += _STATIC.format(name = "cudart", file = "libcudart_static.a")
    libraries = [
        ("cublaslt", ["libcublasLt.so"]),
        ("cudnn", ["libcudnn.so"]),
        ("cufft", ["libcufft.so"]),
        ("cusolver", ["libcusolver.so", "libcublas.so"]),
    ]
    for name, files in libraries:
        paths = [_first(ctx, folders, f) for f in files]
        if None in paths:
            continue
        build += _SHARED.format(
            name = name,
            files = ", ".join(["\"%s\"" % p for p in paths]),
            folder = str(paths[0].dirname),
        )
    ctx.file("BUILD", build)

cuda_toolkit = repository_rule(
    implementation = _cuda_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
