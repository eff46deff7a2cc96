"""Compiles several sources at a time, where headers take most of the time to compile one.

The files of a batch are one translation unit: what they define must not share names.
"""

def write_batches(ctx, size, extension):
    """Writes files that each include `size` of ctx.files.srcs.

    Args:
      ctx: of a rule with the attribute srcs.
      size: sources in a file, but for the last.
      extension: of the files, such as ".cc".
    Returns:
      Pairs: a file and the sources in it.
    """
    batches = []
    for first in range(0, len(ctx.files.srcs), size):
        srcs = ctx.files.srcs[first:first + size]
        name = "_batches/%s_%d%s" % (ctx.label.name, first // size, extension)
        batch = ctx.actions.declare_file(name)
        ctx.actions.write(batch, "".join(["#include \"%s\"\n" % src.path for src in srcs]))
        batches.append((batch, srcs))
    return batches

def _batches_impl(ctx):
    batches = write_batches(ctx, ctx.attr.size, ".cc")
    return [DefaultInfo(files = depset([batch for batch, _ in batches]))]

# Makes such files for a library's srcs; its textual_hdrs are `srcs`.
firn_batches = rule(
    implementation = _batches_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cc"]),
        "size": attr.int(mandatory = True),
    },
)
