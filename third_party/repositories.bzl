"""External repositories of Firn: libraries of the system, nothing is downloaded.

A consumer workspace reaches Firn and everything it needs by

    local_repository(name = "firn", path = "...")
    load("@firn//third_party:repositories.bzl", "firn_repositories")
    firn_repositories()

A repository that the consumer has already defined under the same name is kept.
"""

load("//third_party:absl.bzl", "system_absl")
load("//third_party:bazel_shims.bzl", "bazel_shims")

# Repository name -> its BUILD file in this folder. All of them stand on /usr.
_SYSTEM_LIBRARIES = {
    "cereal": "cereal",
    "com_google_benchmark": "benchmark",
    "com_google_googletest": "googletest",
    "eigen": "eigen",
    "hdf5": "hdf5",
    "onednn": "onednn",
    "openmp": "openmp",
    "zlib": "zlib",
}

def firn_repositories():
    """Defines every external repository that Firn's BUILD files name."""
    bazel_shims()
    if not native.existing_rule("com_google_absl"):
        system_absl(name = "com_google_absl")
    for name, build_file in _SYSTEM_LIBRARIES.items():
        if not native.existing_rule(name):
            native.new_local_repository(
                name = name,
                path = "/usr",
                build_file = "@firn//third_party:" + build_file + ".BUILD",
            )
