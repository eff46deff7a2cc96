"""Repositories that Debian's Bazel would otherwise download.

`bazel-bootstrap` of Debian 12 and 13 (4.2.3 in both) reports an empty version and ships without its
embedded rule repositories. The few definitions below are enough for cc_* targets. Any other Bazel keeps
its own.
"""

_NATIVE_CC_RULES = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_proto_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
    "fdo_prefetch_hints",
    "fdo_profile",
    "objc_import",
    "objc_library",
]

def _rules_cc_shim_impl(ctx):
    # Debian's own bazel-rules-cc is too new for 4.2.3, so re-export the native rules.
    lines = ["%s = native.%s" % (rule, rule) for rule in _NATIVE_CC_RULES]
    lines += ["cc_flags_supplier = None", "compiler_flag = None"]
    ctx.file("BUILD")
    ctx.file("cc/BUILD")
    ctx.file("cc/defs.bzl", "\n".join(lines) + "\n")

_rules_cc_shim = repository_rule(implementation = _rules_cc_shim_impl)

def _coverage_shim_impl(ctx):
    # Bazel asks for it as soon as it analyses a test; only `bazel coverage` uses it.
    ctx.file("BUILD", """\
filegroup(
    name = "coverage_report_generator",
    srcs = [],
    visibility = ["//visibility:public"],
)
""")

_coverage_shim = repository_rule(implementation = _coverage_shim_impl)

def bazel_shims():
    """Defines the shims under Debian's Bazel, nothing under any other."""
    if native.bazel_version:
        return
    existing = native.existing_rules()
    if "rules_cc" not in existing:
        _rules_cc_shim(name = "rules_cc")
    if "remote_coverage_tools" not in existing:
        _coverage_shim(name = "remote_coverage_tools")

    # Toolchain resolution loads these even for C++ (packages bazel-rules-java, -proto).
    for language in ["java", "proto"]:
        if "rules_" + language not in existing:
            native.local_repository(
                name = "rules_" + language,
                path = "/usr/share/bazel/rules/" + language,
            )
