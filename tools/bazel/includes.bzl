"""firn_includes: headers under the names by which users include them, "firn/tensor/tensor.h".

The headers stay where they are, and each package has one folder with links to them. Bazel's own include_prefix
makes a folder for each target: a compiler would look for every header in more than two hundred of them.
"""

_HEADERS = ["h", "cuh", "inc"]

def _impl(ctx):
    package = ctx.label.package
    folder = "_include"
    links = []
    for header in ctx.files.files:
        if header.extension not in _HEADERS:
            continue
        path = header.short_path
        if path.startswith("../"):  # of another repository: ../REPOSITORY/path
            path = path[len("../"):].partition("/")[2]
        link = ctx.actions.declare_file("%s/firn/%s" % (folder, path))
        ctx.actions.symlink(output = link, target_file = header)
        links.append(link)
    root = [ctx.bin_dir.path, ctx.label.workspace_root, package, folder]
    folders = depset(["/".join([part for part in root if part])])
    return [
        DefaultInfo(files = depset(links)),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset(links),
            includes = depset() if ctx.label.workspace_root else folders,
            # They are system headers, so a program with more warnings than Firn gets none for them.
            system_includes = folders if ctx.label.workspace_root else depset(),
        )),
    ]

firn_includes = rule(
    implementation = _impl,
    attrs = {"files": attr.label_list(
        allow_files = True,
        doc = "A library's headers, and other files of it, which have no names for users.",
    )},
)
