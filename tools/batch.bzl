"""firn_batches: sources that are compiled some at a time, where most of compiling one is headers.

The files of a batch are one translation unit: what they define must not share names.
"""

def _batches_impl(ctx):
    batches = []
    for first in range(0, len(ctx.files.srcs), ctx.attr.size):
        batch = ctx.actions.declare_file("_batches/%s_%d.cc" % (ctx.label.name, first // ctx.attr.size))
        ctx.actions.write(batch, "".join([
            "#include \"%s\"\n" % src.path
            for src in ctx.files.srcs[first:first + ctx.attr.size]
        ]))
        batches.append(batch)
    return [DefaultInfo(files = depset(batches))]

# Files that include `srcs`, `size` of them each: for a library's srcs; its textual_hdrs are `srcs`.
firn_batches = rule(
    implementation = _batches_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cc"]),
        "size": attr.int(mandatory = True),
    },
)
