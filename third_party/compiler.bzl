"""What the compiler of the build answers. It is $CC, else gcc: Bazel's own detection of a toolchain takes the same.

A repository_rule that asks names CC in its `environ`.
"""

def _ask(ctx, flags):
    return ctx.execute([ctx.os.environ.get("CC") or "gcc"] + flags)

def compiler_says(ctx, flag):
    """What it prints for a flag, or ""."""
    asked = _ask(ctx, [flag])
    return asked.stdout if asked.return_code == 0 else ""

def compiler_takes(ctx, flag):
    """Whether it knows a flag."""
    return _ask(ctx, [flag, "-fsyntax-only", "-x", "c++", "/dev/null"]).return_code == 0
