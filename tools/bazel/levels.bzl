"""firn_level_kernels: kernels compiled once more, for a higher level of processors (--config=portable).

The kernels of all levels are in one program, and device/cpu.h says which level it takes. The sources are the
same: a transition compiles the libraries that hold them with another -march. The kernels of one level must not
call functions that were compiled for another. Yet all levels have the same functions, and the same inline
functions of the standard library and Abseil, and a linker keeps one copy of each. So all objects of a level are
first linked to one object, and all its names are then made local. What remains are its references to the rest of
the program and two sections, <section>_first and <section>_then. They hold the constructors that would have run
when the program starts, registrations first. tensor/internal/level_kernels.cc calls those of one level.
"""

# The level that a configuration compiles kernels for, beside those of the program; "" in the program's own.
_KERNEL_LEVEL = str(Label("//tools/bazel:kernel_level"))

def _flag_impl(_ctx):
    return []

kernel_level_flag = rule(
    implementation = _flag_impl,
    build_setting = config.string(flag = False),
)

def _level_impl(_settings, attr):
    return {_KERNEL_LEVEL: attr.level}

_level = transition(
    implementation = _level_impl,
    inputs = [],
    outputs = [_KERNEL_LEVEL],
)

# For rules that list the libraries that firn_level_kernels links.
level_transition = _level

def holds_kernels(owner, pages):
    """Whether the library of this label is among those that are compiled for levels."""
    if owner in pages:
        return True
    for package in ["tensor/ops", "tensor/kernels", "tensor/kernels/cpu"]:
        if owner.package == package and "cuda" not in owner.name:
            return True
    if owner.package == "tensor":
        return owner.name == "strided_copy"
    return owner.package == "device" and owner.name == "level_tag"  # needed by all kernels

def _level_kernels_impl(ctx):
    pages = [dep.label for dep in ctx.attr.deps]
    archives = {}
    needed = {}  # the pages take from these what they call
    for dep in ctx.attr.deps:
        for found in dep[CcInfo].linking_context.linker_inputs.to_list():
            if not holds_kernels(found.owner, pages):
                continue
            taken = archives if ctx.attr.all_kernels or found.owner in pages else needed
            for library in found.libraries:
                archive = library.static_library or library.pic_static_library
                taken[archive.path] = archive
    out = ctx.actions.declare_file(ctx.label.name + ".o")
    ctx.actions.run(
        executable = ctx.executable._link,
        arguments = [out.path, ctx.attr.section] + archives.keys() + ["--needed"] + needed.keys(),
        inputs = archives.values() + needed.values(),
        outputs = [out],
        mnemonic = "LinkLevel",
        progress_message = "Linking the kernels of %s" % ctx.attr.level,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]))]

firn_level_kernels = rule(
    implementation = _level_kernels_impl,
    attrs = {
        "all_kernels": attr.bool(
            default = True,
            doc = "Of all kernels that deps depend on; otherwise of deps and of those that they call, " +
                  "where another object has all of them.",
        ),
        "deps": attr.label_list(
            cfg = _level,
            doc = "Libraries that hold kernels, or depend on such.",
            providers = [CcInfo],
        ),
        "level": attr.string(doc = "As -march names it."),
        "section": attr.string(doc = "The sections' names begin with it."),
        "_link": attr.label(
            default = "//tools/bazel:link_level",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
