#!/usr/bin/env python3
"""Writes edges/unary.txt: smooth functions of one number and their three first derivatives at the edges.

Each line is a function, a point that f32 holds, and four numbers that mpmath computes with 60 digits and
more. The derivatives are differences around the point, independent of how Firn computes them. `-` stands
for a value that is not finite or is outside the function's domain: the test does not look there.

    python3 tests/golden/make_edges.py > tests/golden/edges/unary.txt
"""

import math

import mpmath as mp

mp.mp.dps = 60
HALF = mp.mpf(1) / 2


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gelu_tanh(x):
    u = mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)
    return x * sigmoid(2 * u)


def sinc(x):
    return mp.sinpi(x) / (mp.pi * x) if x != 0 else mp.mpf(1)


EVERYWHERE = (-mp.inf, mp.inf)
POSITIVE = (0, mp.inf)
# name: (function, open interval where it is smooth)
FUNCTIONS = {
    "exp": (mp.exp, EVERYWHERE),
    "exp2": (lambda x: mp.power(2, x), EVERYWHERE),
    "expm1": (mp.expm1, EVERYWHERE),
    "log": (mp.log, POSITIVE),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (lambda x: mp.log(x) / mp.log(10), POSITIVE),
    "log1p": (mp.log1p, (-1, mp.inf)),
    "sqrt": (mp.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE),
    "reciprocal": (lambda x: 1 / x, None),
    "square": (lambda x: x * x, EVERYWHERE),
    "sin": (mp.sin, EVERYWHERE),
    "cos": (mp.cos, EVERYWHERE),
    "tan": (mp.tan, EVERYWHERE),
    "asin": (mp.asin, (-1, 1)),
    "acos": (mp.acos, (-1, 1)),
    "atan": (mp.atan, EVERYWHERE),
    "sinh": (mp.sinh, EVERYWHERE),
    "cosh": (mp.cosh, EVERYWHERE),
    "tanh": (mp.tanh, EVERYWHERE),
    "asinh": (mp.asinh, EVERYWHERE),
    "acosh": (mp.acosh, (1, mp.inf)),
    "atanh": (mp.atanh, (-1, 1)),
    "erf": (mp.erf, EVERYWHERE),
    "sinc": (sinc, EVERYWHERE),
    "lgamma": (lambda x: mp.re(mp.loggamma(x)), None),
    "digamma": (mp.digamma, None),
    "sigmoid": (sigmoid, EVERYWHERE),
    "logit": (lambda x: mp.log(x / (1 - x)), (0, 1)),
    "log_sigmoid": (lambda x: -softplus(-x), EVERYWHERE),
    "softplus": (softplus, (-mp.inf, 20)),
    "silu": (lambda x: x * sigmoid(x), EVERYWHERE),
    "gelu": (lambda x: x * normal(x), EVERYWHERE),
    "gelu_tanh": (gelu_tanh, EVERYWHERE),
    "mish": (lambda x: x * mp.tanh(softplus(x)), EVERYWHERE),
    "softsign": (lambda x: x / (1 + abs(x)), None),
    "elu": (lambda x: x if x > 0 else mp.expm1(x), None),
    "pow_1.5": (lambda x: mp.power(x, mp.mpf(3) / 2), POSITIVE),
    "pow_3": (lambda x: x**3, EVERYWHERE),
    "pow_-2": (lambda x: 1 / (x * x), None),
}

SIZES = [
    2.0**-149, 2.0**-126, 2.0**-64, 2.0**-30, 2.0**-13, 2.0**-10, 0.125, 0.25, 0.5, 0.75,
    1 - 2.0**-24, 1.0, 1 + 2.0**-23, 1.5, 2.0, 3.0, 4.5, 8.0, 12.0, 19.5, 40.0, 88.0, 100.0,
    2.0**12, 2.0**20, 2.0**31, 2.0**40, 2.0**64, 2.0**100, (2 - 2.0**-23) * 2.0**127,
]


# Whether the function is smooth around the point, so that no difference is taken across a kink.
def smooth(name, x):
    interval = FUNCTIONS[name][1]
    if interval is not None:
        return interval[0] < x < interval[1]
    if name in ("lgamma", "digamma"):
        return x > 0 or x != mp.floor(x)
    return x != 0


def derivatives(f, x):
    """f and its first three derivatives at x, by central differences with a step that is tiny
    compared with the scale on which the function changes near x."""
    size = abs(x) if x != 0 else mp.mpf(1)
    size = min(size, 1)
    digits = 60 + int(4 * abs(mp.log10(size))) + (int(mp.log10(abs(x))) * 4 if abs(x) > 1 else 0)
    with mp.workdps(digits + 500):
        h = size * mp.mpf(10) ** -25
        g = [f(x + k * h) for k in range(-3, 4)]
        # Central differences of sixth and fourth order; h^4 is beyond all digits that are asked for.
        d1 = (45 * (g[4] - g[2]) - 9 * (g[5] - g[1]) + (g[6] - g[0])) / (60 * h)
        d2 = (270 * (g[4] + g[2]) - 27 * (g[5] + g[1]) + 2 * (g[6] + g[0]) - 490 * g[3]) / (180 * h * h)
        d3 = (-13 * (g[4] - g[2]) + 8 * (g[5] - g[1]) - (g[6] - g[0])) / (8 * h**3)
        return [mp.re(v) for v in (g[3], d1, d2, d3)]


def text(v):
    if not mp.isfinite(v) or abs(v) >= mp.mpf(2) ** 1023:
        return "-"
    if abs(v) < mp.mpf(10) ** -300:
        return "0"
    return repr(float(v))


def main():
    print("# Written by make_edges.py with mpmath %s; see there." % mp.__version__)
    for name, (f, _) in FUNCTIONS.items():
        points = [mp.mpf(0)] + [mp.mpf(s) for s in SIZES] + [-mp.mpf(s) for s in SIZES]
        for x in points:
            if not smooth(name, x):
                continue
            # Skipped: the result would be far out of range, or the angle would be a huge number of
            # turns.
            if name in ("sin", "cos", "tan", "sinc") and abs(x) > 2.0**31:
                continue
            if name in ("exp", "exp2", "expm1", "sinh", "cosh") and x > 800:
                continue
            if name in ("sinh", "cosh") and x < -800:
                continue
            if name in ("lgamma", "digamma") and x < -(2.0**20):
                continue
            values = derivatives(f, x)
            print(name, repr(float(x)), *[text(v) for v in values])


if __name__ == "__main__":
    main()
