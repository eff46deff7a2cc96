"""firn_march_known: a target that no build with an unknown --define=firn_march gets past.

select() takes what it does not know for the default, which would be a native build in silence.
"""

_KNOWN = ["native", "none", "portable", "x86-64-v2", "x86-64-v3", "x86-64-v4"]

def _impl(ctx):
    march = ctx.var.get("firn_march", "native")
    if march not in _KNOWN:
        fail("firn: --define=firn_march=%s is none of: %s" % (march, ", ".join(_KNOWN)))
    return [CcInfo()]

firn_march_known = rule(implementation = _impl)
