"""The system's Abseil under upstream's labels, such as @com_google_absl//absl/status:statusor.

Every absl_*.pc file of pkg-config becomes one target of the repository's root package (its
`Requires` are the deps, so the archives come in link order); the public labels are aliases to
them. The headers lie in /usr/include, where the compiler looks anyway. Linking is static: about
fifty small shared objects would slow each start and each call across them.
"""

load("//third_party:compiler.bzl", "compiler_says")

# Package under absl/ -> public targets. "target=library" where pkg-config names it otherwise.
_PUBLIC = {
    "algorithm": ["algorithm", "container=algorithm_container"],
    "base": ["base", "config", "core_headers", "dynamic_annotations", "endian", "log_severity"],
    "cleanup": ["cleanup"],
    "container": [
        "btree",
        "fixed_array",
        "flat_hash_map",
        "flat_hash_set",
        "inlined_vector",
        "node_hash_map",
        "node_hash_set",
    ],
    "debugging": ["failure_signal_handler", "leak_check", "stacktrace", "symbolize"],
    "flags": [
        "commandlineflag=flags_commandlineflag",
        "config=flags_config",
        "flag=flags",
        "marshalling=flags_marshalling",
        "parse=flags_parse",
        "reflection=flags_reflection",
        "usage=flags_usage",
    ],
    "functional": ["any_invocable", "bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": [
        "bit_gen_ref=random_bit_gen_ref",
        "distributions=random_distributions",
        "random=random_random",
        "seed_sequences=random_seed_sequences",
    ],
    "status": ["status", "statusor"],
    "strings": ["cord", "str_format", "strings"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": ["any", "compare", "optional", "span", "variant"],
    "utility": ["utility"],
}

def _pc_folders(ctx):
    # Folders of the processor that the compiler compiles for: Debian keeps libraries of several
    # side by side.
    machine = compiler_says(ctx, "-dumpmachine").split("-")[0]
    return ["/usr/lib/%s-linux-gnu/pkgconfig" % machine, "/usr/lib64/pkgconfig", "/usr/lib/pkgconfig"]

def _requires(pc_text):
    # "Requires: absl_base = 20220623, absl_status = 20220623, ..." -> the names.
    for line in pc_text.split("\n"):
        if line.startswith("Requires:"):
            names = [item.strip().split(" ")[0] for item in line[len("Requires:"):].split(",")]
            return sorted({name: None for name in names if name})
    return []

def _linkopts(pc_text):
    # "Libs: -L${libdir} -labsl_status" -> the archive by name; header-only libraries have none.
    for line in pc_text.split("\n"):
        if line.startswith("Libs:"):
            flags = [flag for flag in line[len("Libs:"):].split(" ") if flag]
            return [
                "-l:lib%s.a" % flag[2:] if flag.startswith("-labsl_") else flag
                for flag in flags
                if not flag.startswith("-L")
            ]
    return []

def _system_absl_impl(ctx):
    known = _pc_folders(ctx)
    folders = [ctx.path(f) for f in known if ctx.path(f + "/absl_status.pc").exists]
    if not folders:
        fail("Abseil is not installed: no absl_status.pc in %s; run ./setup" % known)
    root = ['package(default_visibility = ["//:__subpackages__"])']
    for pc in folders[0].readdir():
        if pc.basename.startswith("absl_") and pc.basename.endswith(".pc"):
            text = ctx.read(pc)
            root.append("cc_library(name = %r, linkopts = %r, deps = %r)" % (
                pc.basename[:-len(".pc")],
                _linkopts(text),
                _requires(text),
            ))
    ctx.file("BUILD", "\n".join(root) + "\n")
    for package, targets in _PUBLIC.items():
        lines = ['package(default_visibility = ["//visibility:public"])']
        for target in targets:
            name, _, library = target.partition("=")
            lines.append("alias(name = %r, actual = %r)" % (name, "//:absl_" + (library or name)))
        ctx.file("absl/%s/BUILD" % package, "\n".join(lines) + "\n")

system_absl = repository_rule(implementation = _system_absl_impl, environ = ["CC"], local = True)
