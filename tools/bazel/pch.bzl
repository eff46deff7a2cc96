"""precompiled_header: headers that many sources read first, compiled once.

Sources that are compiled with the same flags have it in `deps` and reads_first(...) in their copts. A compiler
that refuses a file precompiled with other flags reads it as an ordinary header.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@firn_host//:defs.bzl", "CLANG")

# For -include NAME.h Clang reads NAME.h.gch, like g++. But it stops in cases in which g++ would
# read the headers instead: if a header is newer than its precompiled form although Bazel knows that
# the text is the same, or if it is in another place, as in another output folder that shares a
# cache.
_CLANG_FLAGS = ["-Xclang", "-fno-pch-timestamp"] if CLANG else []
_REQUIREMENTS = {"no-cache": ""} if CLANG else {}

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    context = cc_common.merge_cc_infos(cc_infos = [d[CcInfo] for d in ctx.attr.deps]).compilation_context
    cpp = ctx.fragments.cpp
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.attr.copts + cpp.copts + cpp.cxxopts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
    )
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = variables,
    )
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, "".join(["#include \"%s\"\n" % h for h in ctx.attr.headers]))
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    read = ctx.actions.declare_file(ctx.label.name + ".h.d")
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = flags + _CLANG_FLAGS + ["-x", "c++-header", header.path, "-o", compiled.path, "-MD", "-MF", read.path],
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [compiled, read],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        mnemonic = "CppPrecompile",
        execution_requirements = _REQUIREMENTS,
    )

    # Bazel compiles a source again only if a file has changed that the compiler reported, and g++
    # reports neither the precompiled file nor the headers in it. It does report this file, which
    # holds a checksum of all these headers. A checksum of `compiled` would not do, since that
    # differs each time.
    version = ctx.actions.declare_file(ctx.label.name + "_version.h")
    ctx.actions.run_shell(
        command = "set -eu -o pipefail; sed 's/^[^:]*://; s/\\\\$//' \"$1\" | xargs cat | sha256sum | sed 's|^|// |' > \"$2\"",
        arguments = [read.path, version.path],
        inputs = depset([read, header], transitive = [context.headers, toolchain.all_files]),
        outputs = [version],
        mnemonic = "CppPrecompiledVersion",
    )
    return [
        DefaultInfo(files = depset([header, compiled, version])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header, compiled, version], transitive = [context.headers]),
            # A source that reads it as an ordinary header looks for the headers that it includes.
            includes = context.includes,
            system_includes = context.system_includes,
        )),
    ]

precompiled_header = rule(
    implementation = _impl,
    attrs = {
        "headers": attr.string_list(doc = "As sources include them."),
        "deps": attr.label_list(providers = [CcInfo]),
        "copts": attr.string_list(doc = "Those of the sources."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

# Warnings that g++ 12 gives for code of std and Abseil once it is inlined into Firn's: for code
# from a precompiled header it no longer knows that this comes from a system header. Clang does not
# know all of these warnings.
_FALSE_WARNINGS = [
    "-Wno-array-bounds",
    "-Wno-restrict",
    "-Wno-stringop-overflow",
    "-Wno-stringop-overread",
    "-Wno-unknown-warning-option",
]

def reads_first(label):
    """Compiler options that read the precompiled header `label`, as "//package:name", first."""
    repository = native.repository_name()[1:]
    root = "$(BINDIR)/" + ("external/" + repository + "/" if repository else "")
    header = root + label[2:].replace(":", "/")
    return ["-include", header + ".h", "-include", header + "_version.h"] + _FALSE_WARNINGS
