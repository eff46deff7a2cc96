"""External repositories of Firn: libraries of the system, nothing is downloaded.

A consumer workspace reaches Firn and everything it needs by

    local_repository(name = "firn", path = "...")
    load("@firn//third_party:repositories.bzl", "firn_repositories")
    firn_repositories()

A repository that the consumer has already defined under the same name is kept.
"""

load("//third_party:absl.bzl", "system_absl")
load("//third_party:bazel_shims.bzl", "bazel_shims")
load("//third_party:host.bzl", "firn_host")
load("//third_party:cuda.bzl", "cuda_toolkit")

# Libraries of the system whose BUILD file is NAME.BUILD in this folder -> the folder of headers that
# is not on the compiler's own path, seen as include/ by that file.
_SYSTEM_LIBRARIES = {
    "cereal": "",
    "cli11": "",
    "com_google_benchmark": "",
    "com_google_googletest": "",
    "eigen": "/usr/include/eigen3",
    "gif": "",
    "hdf5": "/usr/include/hdf5/serial",
    "jpeg": "",
    "nlohmann_json": "",
    "onednn": "",
    "openmp": "",
    "png": "",
    "tiff": "",
    "zlib": "",
}

def _system_library_impl(ctx):
    # Not new_local_repository on /usr: that would bring in every BUILD file below /usr/share/doc.
    ctx.symlink(ctx.attr.build_file, "BUILD")
    if ctx.attr.headers:
        if not ctx.path(ctx.attr.headers).exists:
            fail("%s is not installed: no %s; run ./setup" % (ctx.name, ctx.attr.headers))
        ctx.symlink(ctx.attr.headers, "include")

_system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "headers": attr.string(),
    },
    local = True,
)

def firn_repositories():
    """Defines every external repository that Firn's BUILD files name."""
    bazel_shims()
    if not native.existing_rule("com_google_absl"):
        system_absl(name = "com_google_absl")
    if not native.existing_rule("firn_host"):
        firn_host(name = "firn_host")
    if not native.existing_rule("cuda"):
        cuda_toolkit(name = "cuda")
    for name, headers in _SYSTEM_LIBRARIES.items():
        if not native.existing_rule(name):
            _system_library(
                name = name,
                build_file = "@firn//third_party:%s.BUILD" % name,
                headers = headers,
            )
