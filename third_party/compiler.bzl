"""compiler_says(): what the compiler of the build answers."""

def compiler_says(ctx, flag):
    """The answer of $CC, else gcc, as Bazel's own detection of a toolchain takes it, or "".

    A repository_rule that asks names CC in its `environ`.
    """
    asked = ctx.execute([ctx.os.environ.get("CC") or "gcc", flag])
    return asked.stdout if asked.return_code == 0 else ""
