"""firn_bundle_parts: what tools/bundled/link chooses from.

A target of the rule is a list of all objects that a program could be linked from, one line for each: "LEVEL KIND FILE".
LEVEL is base or, with --config=portable, the level for which the kernels in FILE are compiled. KIND is first (before
others that define the same), constructing (from a library with alwayslink) or others. Lines "flag - FLAG" follow.
"""

load("//tools/bazel:levels.bzl", "holds_kernels", "level_transition")

_PartsInfo = provider("Parts of a level.", fields = ["lines", "files"])

def _wanted(owner, pages):
    if pages == None:  # the base: //tensor/ops:levels is all kernels of all levels at once
        return owner.name != "levels"
    return holds_kernels(owner, pages)

def _of(level, deps, first, pages):
    lines, files, seen = [], [], {}
    before = [f.label for f in first]
    for dep in first + deps:
        for found in dep[CcInfo].linking_context.linker_inputs.to_list():
            if not _wanted(found.owner, pages):
                continue
            for library in found.libraries:
                archive = library.static_library or library.pic_static_library
                objects = library.objects or library.pic_objects or [archive]
                for file in objects:
                    if file.path in seen:
                        continue
                    seen[file.path] = True
                    kind = "constructing" if library.alwayslink else "others"
                    if found.owner in before:
                        kind = "first"
                    lines.append("%s %s %s" % (level, kind, file.path))
                    files.append(file)
    return lines, files

def _level_impl(ctx):
    pages = [dep.label for dep in ctx.attr.deps + ctx.attr.first]
    lines, files = _of(ctx.attr.level, ctx.attr.deps, ctx.attr.first, pages)
    return [_PartsInfo(lines = lines, files = files)]

_level_parts = rule(
    implementation = _level_impl,
    attrs = {
        "deps": attr.label_list(cfg = level_transition, providers = [CcInfo]),
        "first": attr.label_list(cfg = level_transition, providers = [CcInfo]),
        "level": attr.string(),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

def _parts_impl(ctx):
    lines, files = _of("base", ctx.attr.deps, ctx.attr.first, None)
    flags = {}
    for dep in ctx.attr.first + ctx.attr.deps:
        for found in dep[CcInfo].linking_context.linker_inputs.to_list():
            for flag in found.user_link_flags:
                flags[flag] = True
    lines = lines + ["flag - " + flag for flag in flags if flag.startswith("-l") or flag == "-pthread"]
    for level in ctx.attr.levels:
        lines = lines + [
            # The level under the name that programs use: v3 for x86-64-v3.
            line[len("x86-64-"):]
            for line in level[_PartsInfo].lines
        ]
        files = files + level[_PartsInfo].files
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(out, "\n".join(lines) + "\n")
    return [
        DefaultInfo(files = depset([out] + files), runfiles = ctx.runfiles([out] + files)),
        OutputGroupInfo(list = depset([out])),  # without compiling its sources
    ]

_parts = rule(
    implementation = _parts_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "first": attr.label_list(providers = [CcInfo]),
        "levels": attr.label_list(providers = [_PartsInfo]),
    },
)

def firn_bundle_parts(name, deps, first, kernels, **kwargs):
    """What a program of `deps` could be linked from.

    Args:
      deps: the program; all pages of operations are among its dependencies.
      first: libraries that replace others with the same functions.
      kernels: those of these and of the pages that are compiled for each level.
    """
    levels = ["x86-64-v3", "x86-64-v4"]
    for level in levels:
        _level_parts(
            name = name + "_" + level,
            deps = deps,
            first = kernels,
            level = level,
            tags = ["manual"],
        )
    _parts(
        name = name,
        deps = deps,
        first = first + kernels,
        levels = select({
            "//tools/bazel:march_portable": [":%s_%s" % (name, level) for level in levels],
            "//conditions:default": [],
        }),
        tags = ["manual"],
        **kwargs
    )
