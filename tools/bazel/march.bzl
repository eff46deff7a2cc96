"""firn_march_known: a target that stops every build whose --define=firn_march its compiler does not accept.

select() takes its default for an unknown value, so the build would be a native one without a message.
"""

load("@firn_host//:defs.bzl", "X86_64")

_KNOWN = ["native", "none", "portable", "x86-64-v2", "x86-64-v3", "x86-64-v4"]

def _impl(ctx):
    march = ctx.var.get("firn_march", "native")
    if march not in _KNOWN:
        fail("firn: --define=firn_march=%s is none of: %s" % (march, ", ".join(_KNOWN)))
    if not X86_64 and march not in ["native", "none"]:
        fail("firn: --define=firn_march=%s is of x86-64, which the compiler does not compile for" % march)
    return [CcInfo()]

firn_march_known = rule(implementation = _impl)
