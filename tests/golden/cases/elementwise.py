"""Unary, binary, comparing and logical operations, and activations."""

import math

import torch
from torch.nn import functional as F

INF, NAN = math.inf, math.nan
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN])

# Operations of one tensor that take any real number.
ANYWHERE = {
    "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "square": torch.square,
    "expm1": torch.expm1, "sin": torch.sin, "cos": torch.cos, "sign": torch.sign,
    "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "atan": torch.atan,
    "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh, "erf": torch.erf,
    "relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu6": F.relu6,
    "selu": F.selu, "silu": F.silu, "mish": F.mish, "log_sigmoid": F.logsigmoid,
    "softsign": F.softsign, "hardswish": F.hardswish,
}
# ... and those defined on an interval (low, high).
INTERVAL = {
    "log": (torch.log, 0.05, 4), "log2": (torch.log2, 0.05, 4), "log10": (torch.log10, 0.05, 4),
    "log1p": (torch.log1p, -0.9, 3), "sqrt": (torch.sqrt, 0.05, 4),
    "rsqrt": (torch.rsqrt, 0.1, 4), "reciprocal": (torch.reciprocal, 0.2, 4),
    "tan": (torch.tan, -1.4, 1.4), "asin": (torch.asin, -0.95, 0.95),
    "acos": (torch.acos, -0.95, 0.95), "acosh": (torch.acosh, 1.1, 4),
    "atanh": (torch.atanh, -0.9, 0.9),
}
# Where a gradient is inf or NaN by arithmetic alone, only the forward result is pinned.
SMALL = torch.tensor([1e-6, -1e-6, 1e-3, -1e-3, 0.5, -0.5])


def add_unary(v):
    for op, function in ANYWHERE.items():
        v.case(op, "vector", lambda x, f=function: f(x), x=v.values(7))
        v.case(op, "matrix", lambda x, f=function: f(x), x=v.values(3, 5, scale=8.0))
        v.case(op, "scalar", lambda x, f=function: f(x), x=v.values())
        v.case(op, "empty", lambda x, f=function: f(x), x=v.values(0, 3))
        v.case(op, "special", lambda x, f=function: f(x), wrt=[], x=SPECIAL)
        v.case(op, "small", lambda x, f=function: f(x), x=SMALL)
        v.case(op, "zero", lambda x, f=function: f(x), x=torch.zeros(2))
    for op in ("exp", "expm1", "sigmoid", "tanh", "relu", "silu", "log_sigmoid", "mish", "sinh"):
        v.case(op, "large", lambda x, f=ANYWHERE[op]: f(x), wrt=None if op != "sinh" else [],
               x=torch.tensor([-80.0, -30.0, -12.0, 12.0, 30.0, 80.0]))
    for op, (function, low, high) in INTERVAL.items():
        v.case(op, "vector", lambda x, f=function: f(x), x=v.positive(7, low=low, high=high))
        v.case(op, "cube", lambda x, f=function: f(x), x=v.positive(2, 3, 4, low=low, high=high))
        v.case(op, "scalar", lambda x, f=function: f(x), x=v.positive(low=low, high=high))
        v.case(op, "special", lambda x, f=function: f(x), wrt=[], x=SPECIAL)
    v.case("log1p", "small", lambda x: torch.log1p(x), x=SMALL)
    v.case("sqrt", "zero_has_infinite_gradient", lambda x: torch.sqrt(x), x=torch.zeros(2))
    for op, function in (("neg", torch.neg), ("abs", torch.abs), ("square", torch.square),
                         ("sign", torch.sign)):
        v.case(op, "int64", lambda x, f=function: f(x), x=v.integers(6, low=-5, high=6))
    ties = torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4999999, 3.2])
    v.case("round", "ties_to_even", lambda x: torch.round(x), x=ties)
    v.case("round", "decimals", lambda x, decimals: torch.round(x, decimals=decimals),
           {"decimals": 1}, x=torch.tensor([0.12, 0.58, -3.47, 2.0]))
    v.case("round", "special", lambda x: torch.round(x), wrt=[], x=SPECIAL)


def add_clamp(v):
    edges = torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, NAN])
    both = lambda x, min=None, max=None: torch.clamp(x, min, max)
    v.case("clamp", "both_numbers_gradient_one_at_bounds", both, {"min": -1.0, "max": 1.0}, x=edges)
    v.case("clamp", "min_only", both, {"min": 0.5}, x=v.values(2, 3))
    v.case("clamp", "max_only", both, {"max": 0.25}, x=v.values(2, 3))
    v.case("clamp", "min_above_max_gives_max", both, {"min": 1.0, "max": -1.0}, x=v.values(5))
    v.case("clamp", "tensor_bounds", both, wrt=["x"], x=v.values(3, 4), min=v.values(4) - 1,
           max=v.values(3, 1) + 1)
    v.case("clamp", "int64", both, {"min": -2, "max": 2}, x=v.integers(6, low=-5, high=6))


SHAPES = {"same": ((2, 3), (2, 3)), "row": ((2, 3), (3,)), "column": ((2, 3), (2, 1)),
          "outer": ((4, 1), (1, 3)), "scalar": ((2, 2), ()), "rank4": ((2, 1, 3, 1), (4, 1, 2)),
          "empty": ((0, 3), (3,)), "ones": ((1,), (3, 1))}


def add_arithmetic(v):
    for op in ("add", "sub", "mul", "div", "maximum", "minimum"):
        function = getattr(torch, op)
        for name, (left, right) in SHAPES.items():
            x, y = v.values(*left), v.values(*right)
            if op == "div":
                y = torch.where(y.abs() < 0.2, torch.tensor(0.75), y)
            v.case(op, name, lambda x, y, f=function: f(x, y), x=x, y=y)
        mixed = v.integers(3, low=1, high=9)
        v.case(op, "float_and_int64", lambda x, y, f=function: f(x, y), x=v.values(2, 3), y=mixed)
        v.case(op, "int64", lambda x, y, f=function: f(x, y), x=v.integers(4, low=-9),
               y=v.integers(4, low=1))
        v.case(op, "int32_and_int64", lambda x, y, f=function: f(x, y),
               x=v.integers(4, low=-9).int(), y=v.integers(4, low=1))
    for op in ("add", "sub", "mul", "div"):
        function = getattr(torch, op)
        v.case(op, "number", lambda x, y, f=function: f(x, y), {"y": 2.5}, x=v.values(2, 3))
        v.case(op, "int64_with_float_number", lambda x, y, f=function: f(x, y), {"y": 2.5},
               x=v.integers(4))
        v.case(op, "int64_with_int_number", lambda x, y, f=function: f(x, y), {"y": 3},
               x=v.integers(4))
    for op in ("add", "sub"):
        function = getattr(torch, op)
        v.case(op, "alpha", lambda x, y, alpha, f=function: f(x, y, alpha=alpha), {"alpha": -1.5},
               x=v.values(2, 3), y=v.values(3))
    v.case("add", "bool", lambda x, y: x + y, x=v.mask(4), y=v.mask(4))
    v.case("mul", "bool_and_float", lambda x, y: x * y, x=v.mask(4), y=v.values(4))
    v.case("add", "uint8_wraps", lambda x, y: x + y, x=torch.tensor([200, 250], dtype=torch.uint8),
           y=torch.tensor([100, 5], dtype=torch.uint8))
    divide = lambda x, y, rounding=None: torch.div(x, y, rounding_mode=rounding)
    top, bottom = torch.tensor([7.0, -7.0, 7.0, -7.0, 6.0]), torch.tensor([2.0, 2, -2, -2, 3])
    for rounding in ("trunc", "floor"):
        v.case("div", rounding, divide, {"rounding": rounding}, x=top, y=bottom)
        v.case("div", rounding + "_int64", divide, {"rounding": rounding}, x=top.long(),
               y=bottom.long())
    v.case("div", "by_zero", divide, wrt=[], x=torch.tensor([1.0, -1.0, 0.0]), y=torch.zeros(3))
    for op, function in (("maximum", torch.maximum), ("minimum", torch.minimum)):
        v.case(op, "ties_share_the_gradient", lambda x, y, f=function: f(x, y),
               x=torch.tensor([1.0, 2.0, -0.5]), y=torch.tensor([1.0, 3.0, -0.5]))
        v.case(op, "nan_wins", lambda x, y, f=function: f(x, y), wrt=[],
               x=torch.tensor([NAN, 1.0, INF]), y=torch.tensor([1.0, NAN, -INF]))


def add_pow(v):
    power = lambda x, y: torch.pow(x, y)
    for exponent in (2.0, 3.0, 0.5, -1.0, 0.0, 1.0, 2.5):
        name = f"number_{exponent}".replace("-", "minus_").replace(".", "_")
        v.case("pow", name, power, {"y": exponent}, x=v.positive(5))
    v.case("pow", "negative_base", power, {"y": 3.0}, x=torch.tensor([-2.0, -0.5, 0.0, 1.5]))
    v.case("pow", "tensors", power, x=v.positive(2, 3), y=v.values(2, 3))
    v.case("pow", "broadcast", power, x=v.positive(2, 1), y=v.values(3))
    v.case("pow", "zero_exponent_gradient_is_zero", power, {"y": 0.0}, x=torch.tensor([0.0, 2, -1]))
    v.case("pow", "zero_base", power, x=torch.zeros(3), y=torch.tensor([0.0, 1.0, 2.0]))
    v.case("pow", "negative_base_fraction_is_nan", power, {"y": 0.5}, wrt=[],
           x=torch.tensor([-1.0, -4.0]))
    v.case("pow", "int64", power, {"y": 3}, x=v.integers(5, low=-4, high=5))
    v.case("pow", "number_base", power, {"x": 2.0}, y=v.values(5))
    v.case("pow", "zero_number_base", power, {"x": 0.0}, y=torch.tensor([0.0, 0.5, 2.0]))


def add_compare(v):
    ties = torch.tensor([1.0, 2.0, NAN, INF]), torch.tensor([1.0, 3.0, NAN, INF])
    for op in ("eq", "ne", "gt", "ge", "lt", "le"):
        function = getattr(torch, op)
        v.case(op, "ties_nan_inf", lambda x, y, f=function: f(x, y), x=ties[0], y=ties[1])
        v.case(op, "broadcast", lambda x, y, f=function: f(x, y),
               x=v.integers(3, 1, high=4).float(), y=v.integers(4, high=4).float())
        v.case(op, "number", lambda x, y, f=function: f(x, y), {"y": 0.5},
               x=torch.tensor([0.0, 0.5, 1.0]))
        v.case(op, "int64_and_float", lambda x, y, f=function: f(x, y), x=v.integers(4, high=3),
               y=torch.tensor([0.0, 1.0, 1.5, 2.0]))
        v.case(op, "bool", lambda x, y, f=function: f(x, y), x=v.mask(4), y=v.mask(4))
    for op in ("logical_and", "logical_or", "logical_xor"):
        function = getattr(torch, op)
        v.case(op, "bool", lambda x, y, f=function: f(x, y),
               x=torch.tensor([False, False, True, True]), y=torch.tensor([False, True] * 2))
        v.case(op, "float_broadcast_nan_is_true", lambda x, y, f=function: f(x, y),
               x=torch.tensor([[0.0], [2.0], [NAN]]), y=torch.tensor([0.0, -1.0]))
        v.case(op, "int64", lambda x, y, f=function: f(x, y), x=v.integers(5, high=2),
               y=v.integers(5, high=2))
    v.case("logical_not", "bool", lambda x: ~x, x=torch.tensor([True, False]))
    v.case("logical_not", "float", lambda x: torch.logical_not(x),
           x=torch.tensor([0.0, -0.0, 0.5, NAN]))
    for op in ("isnan", "isinf", "isfinite"):
        v.case(op, "special", lambda x, f=getattr(torch, op): f(x), x=SPECIAL)


def add_where(v):
    choose = lambda condition, x, y: torch.where(condition, x, y)
    v.case("where", "same", choose, condition=v.mask(2, 3), x=v.values(2, 3), y=v.values(2, 3))
    v.case("where", "broadcast_all", choose, condition=v.mask(4, 1, 1), x=v.values(3, 1),
           y=v.values(2))
    v.case("where", "numbers", choose, {"x": 1.5, "y": -1.0}, condition=v.mask(5))
    v.case("where", "number_and_tensor", choose, {"y": 0.0}, condition=v.mask(2, 2),
           x=v.values(2, 2))
    v.case("where", "nan_in_the_other_branch", choose, condition=torch.tensor([True, False]),
           x=torch.tensor([1.0, NAN]), y=torch.tensor([INF, 2.0]))


def add_activations(v):
    kinks = torch.tensor([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    wide = torch.tensor([-30.0, -5.0, -0.01, 0.01, 5.0, 19.0, 21.0, 30.0])
    v.case("leaky_relu", "default", lambda x: F.leaky_relu(x), x=kinks)
    v.case("leaky_relu", "alpha", lambda x, alpha: F.leaky_relu(x, alpha), {"alpha": 0.2},
           x=v.values(2, 3))
    v.case("elu", "default", lambda x: F.elu(x), x=kinks)
    v.case("elu", "alpha", lambda x, alpha: F.elu(x, alpha), {"alpha": 0.5}, x=v.values(2, 3))
    v.case("celu", "alpha", lambda x, alpha: F.celu(x, alpha), {"alpha": 2.0}, x=kinks)
    v.case("gelu", "erf", lambda x: F.gelu(x), x=kinks)
    v.case("gelu", "tanh", lambda x, approximate: F.gelu(x, approximate=approximate),
           {"approximate": "tanh"}, x=v.values(2, 5))
    v.case("gelu", "wide", lambda x: F.gelu(x), x=wide)
    v.case("softplus", "default", lambda x: F.softplus(x), x=wide)
    v.case("softplus", "beta_threshold", lambda x, beta, threshold: F.softplus(x, beta, threshold),
           {"beta": 2.0, "threshold": 4.0}, x=torch.tensor([-3.0, -0.1, 0.0, 1.9, 2.1, 5.0]))
    v.case("hardtanh", "gradient_zero_at_ends", lambda x: F.hardtanh(x), x=kinks)
    v.case("hardtanh", "bounds", lambda x, min, max: F.hardtanh(x, min, max),
           {"min": -2.0, "max": 0.5}, x=v.values(2, 3))
    v.case("hardsigmoid", "default", lambda x: F.hardsigmoid(x), x=v.values(6, scale=10.0))


def add_pow_number(v):
    for exponent in (2.0, 0.5, -1.0, 3.25):
        name = f"exponent_{exponent}".replace("-", "minus_").replace(".", "_")
        v.case("pow_number", name, lambda x, exponent: x ** exponent, {"exponent": exponent},
               x=v.positive(2, 5))
    v.case("pow_number", "zero_exponent_gradient_is_zero", lambda x, exponent: x ** exponent,
           {"exponent": 0.0}, x=torch.tensor([0.0, 2.0, -1.0]))


def add_more_clamp(v):
    clamp = lambda x, min=None, max=None: torch.clamp(x, min, max)
    v.case("clamp", "both_numbers", clamp, {"min": -1.0, "max": 1.0}, x=v.values(3, 5))
    v.case("clamp", "at_the_bounds_and_nan", clamp, {"min": -1.0, "max": 1.0}, [],
           x=torch.tensor([-1.0, 1.0, -INF, INF, NAN]))


def add_special(v):
    """Functions beyond ANYWHERE and INTERVAL, and what those leave out."""
    poles = torch.tensor([-3.0, -2.0, -1.0, 0.0])
    gamma = v.values(9, scale=10.0)
    for op, function in (("lgamma", torch.lgamma), ("digamma", torch.digamma)):
        v.case(op, "vector", lambda x, f=function: f(x), x=gamma)
        v.case(op, "positive", lambda x, f=function: f(x), x=v.positive(2, 4, low=0.05, high=20))
        v.case(op, "special", lambda x, f=function: f(x), wrt=[], x=SPECIAL)
        v.case(op, "poles", lambda x, f=function: f(x), wrt=[], x=poles)
    between = torch.tensor([-0.475, 4.713, 4.003, 0.25, 17.5, -2.761, -4.597, 0.0625])
    for name, n in (("first", 1), ("second", 2)):
        v.case("polygamma", name, lambda x, n: torch.polygamma(n, x), {"n": n}, x=between)
    v.case("polygamma", "poles", lambda x, n: torch.polygamma(n, x), {"n": 1}, [], x=poles)
    v.case("sinc", "vector", lambda x: torch.sinc(x), x=v.values(9, scale=8.0))
    v.case("sinc", "around_zero", lambda x: torch.sinc(x), x=torch.tensor([0.0, 0.01, -0.1, 0.2]))
    v.case("sinc", "special", lambda x: torch.sinc(x), wrt=[], x=SPECIAL)
    wide = torch.tensor([-90.0, -30.0, -5.0, 5.0, 19.5, 20.5, 30.0, 90.0])
    for op, function in (("mish", F.mish), ("log_sigmoid", F.logsigmoid), ("cosh", torch.cosh)):
        v.case(op, "wide", lambda x, f=function: f(x), x=wide / (2 if op == "cosh" else 1))
    for op in ("erf", "tan", "sinh", "log2"):
        v.case(op, "int64", lambda x, f=getattr(torch, op): f(x), x=v.integers(4, low=1))


def add_kinked(v):
    kinks = torch.tensor([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0])
    x = v.values(2, 3, 4, scale=8.0)
    for op, function, options in (
            ("hardshrink", F.hardshrink, {"lambda": 1.0}),
            ("softshrink", F.softshrink, {"lambda": 1.0})):
        for name, attrs, input in (("default", {}, x), ("kinks", {}, kinks), ("lambda", options, x)):
            v.case(op, name, lambda x, f=function, **a: f(x, *a.values()), attrs, x=input)
        v.case(op, "special", lambda x, f=function: f(x), wrt=[], x=SPECIAL)
    for op, function in (("tanhshrink", F.tanhshrink), ("relu6", F.relu6), ("celu", F.celu),
                         ("hardswish", F.hardswish), ("softsign", F.softsign)):
        v.case(op, "cube", lambda x, f=function: f(x), x=x)
        v.case(op, "kinks", lambda x, f=function: f(x), x=kinks)
    v.case("threshold", "kinks", lambda x, threshold, value: F.threshold(x, threshold, value),
           {"threshold": 0.5, "value": -2.0}, x=kinks)
    v.case("threshold", "special", lambda x, threshold, value: F.threshold(x, threshold, value),
           {"threshold": 0.0, "value": 20.0}, wrt=[], x=SPECIAL)
    v.case("hardsigmoid", "kinks", lambda x: F.hardsigmoid(x), x=kinks)
    v.case("hardsigmoid", "special", lambda x: F.hardsigmoid(x), wrt=[], x=SPECIAL)
    v.case("hardsigmoid", "alpha_beta", lambda x, alpha, beta: torch.clamp(alpha * x + beta, 0, 1),
           {"alpha": 0.2, "beta": 0.4}, x=x)
    prelu = lambda x, weight: F.prelu(x, weight)
    v.case("prelu", "one", prelu, x=x, weight=v.values(1))
    v.case("prelu", "channels", prelu, x=x, weight=v.values(3))
    v.case("prelu", "image", prelu, x=v.values(2, 3, 2, 2), weight=v.values(3))
    v.case("prelu", "matrix", prelu, x=v.values(4, 3), weight=v.values(3))
    v.case("prelu", "at_zero", prelu, x=torch.tensor([0.0, -0.0, 1.0]), weight=v.values(1))
    for name, attrs, shape in (("default", {}, (3, 4)), ("dim", {"dim": 0}, (4, 3)),
                               ("channels", {"dim": 1}, (2, 6, 2))):
        v.case("glu", name, lambda x, dim=-1: F.glu(x, dim), attrs, x=v.values(*shape))


def add_more_binary(v):
    for op in ("atan2", "logaddexp", "remainder", "fmod"):
        function = getattr(torch, op)
        first, second = ("y", "x") if op == "atan2" else ("x", "y")
        call = lambda x, y, f=function, a=first: f(y, x) if a == "y" else f(x, y)
        for name, (left, right) in SHAPES.items():
            x, y = v.values(*left), v.values(*right)
            y = torch.where(y.abs() < 0.2, torch.tensor(0.75), y)
            v.case(op, name, call, **{first: x, second: y})
    signs = torch.tensor([7.0, -7.0, 7.0, -7.0, 6.0, -0.5]), torch.tensor([2.0, 2, -2, -2, 3, 2])
    edges = torch.tensor([1.0, 0.0, INF, NAN, 1.0, -1.0]), torch.tensor([0.0, 0, 2, 1, INF, INF])
    for op in ("remainder", "fmod"):
        divide = lambda x, y, f=getattr(torch, op): f(x, y)
        v.case(op, "signs", divide, x=signs[0], y=signs[1])
        v.case(op, "signs_int64", divide, x=signs[0].long(), y=signs[1].long())
        v.case(op, "edges", divide, wrt=[], x=edges[0], y=edges[1])
        v.case(op, "number", divide, {"y": 1.5}, x=v.values(2, 3))
        v.case(op, "int64_with_float_number", divide, {"y": 1.5}, x=v.integers(4, low=-9))
        v.case(op, "int32_and_int64", divide, x=v.integers(4, low=-9).int(),
               y=v.integers(4, low=1))
    angles = torch.tensor([0.0, -0.0, 0.0, -0.0, 1.0, -1.0, INF, INF])
    v.case("atan2", "special", lambda x, y: torch.atan2(y, x), wrt=[], y=angles,
           x=torch.tensor([0.0, 0.0, -0.0, -1.0, 0.0, 0.0, INF, -INF]))
    v.case("logaddexp", "special", lambda x, y: torch.logaddexp(x, y), wrt=[],
           x=torch.tensor([INF, -INF, INF, -INF, 1.0]),
           y=torch.tensor([INF, -INF, -INF, 2.0, NAN]))
    v.case("logaddexp", "large", lambda x, y: torch.logaddexp(x, y),
           x=torch.tensor([300.0, -300.0, 250.0]), y=torch.tensor([301.0, -300.5, -250.0]))
    lerp = lambda start, end, weight: torch.lerp(start, end, weight)
    v.case("lerp", "number", lerp, {"weight": 0.25}, start=v.values(2, 3), end=v.values(2, 3))
    v.case("lerp", "tensor", lerp, start=v.values(2, 3), end=v.values(2, 3), weight=v.values(2, 3))
    v.case("lerp", "broadcast", lerp, start=v.values(2, 1), end=v.values(3), weight=v.values(4, 1, 1))
    v.case("lerp", "ends", lerp, start=v.values(3), end=v.values(3),
           weight=torch.tensor([0.0, 1.0, 0.5]))
    for name, shapes in (("one", ((2, 3),)), ("two", ((2, 3), (3,))),
                         ("six_broadcast", ((2, 3), (3,), (), (2, 1), (1,), (4, 1, 1)))):
        v.case("add_n", name, lambda tensors: sum(tensors[1:], tensors[0]),
               tensors=[v.values(*shape) for shape in shapes])
    v.case("add_n", "int64", lambda tensors: sum(tensors[1:], tensors[0]),
           tensors=[v.integers(3) for _ in range(3)])


def add_bits(v):
    bytes_ = torch.tensor([0, 1, 77, 128, 255], dtype=torch.uint8)
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        function = lambda x, y, f=getattr(torch, op): f(x, y)
        v.case(op, "int64", function, x=v.integers(6, low=-99, high=99),
               y=v.integers(6, low=-99, high=99))
        v.case(op, "broadcast", function, x=v.integers(3, 1, low=-9), y=v.integers(4))
        v.case(op, "uint8", function, x=bytes_, y=bytes_.flip(0))
        v.case(op, "bool", function, x=v.mask(5), y=v.mask(5))
        v.case(op, "number", function, {"y": 6}, x=v.integers(5, high=99).int())
    invert = lambda x: torch.bitwise_not(x)
    v.case("bitwise_not", "int64", invert, x=v.integers(6, low=-99, high=99))
    v.case("bitwise_not", "uint8", invert, x=bytes_)
    v.case("bitwise_not", "bool", invert, x=v.mask(5))
    places = torch.tensor([0, 1, 7, 8, 31, 32, 63, 64, 100, -1])
    for op in ("bitwise_left_shift", "bitwise_right_shift"):
        function = lambda x, y, f=getattr(torch, op): f(x, y)
        v.case(op, "int64", function, x=v.integers(2, 1, low=-99, high=99), y=places)
        v.case(op, "int32", function, x=v.integers(2, 1, low=-99, high=99).int(), y=places.int())
        v.case(op, "uint8", function, x=bytes_.reshape(5, 1),
               y=torch.tensor([0, 1, 7, 8, 200], dtype=torch.uint8))
        v.case(op, "number", function, {"y": 2}, x=v.integers(5, low=-9))


def add_classes(v):
    replace = lambda x, nan=0.0, posinf=None, neginf=None: torch.nan_to_num(x, nan, posinf, neginf)
    v.case("nan_to_num", "numbers", replace, {"nan": 1.5, "posinf": 10.0, "neginf": -10.0}, x=SPECIAL)
    v.case("nan_to_num", "vector", replace, x=v.values(2, 3))
    v.case("nan_to_num", "kept", replace, {"nan": NAN, "posinf": INF, "neginf": -INF}, x=SPECIAL)
    v.case("nan_to_num", "int64", replace, x=v.integers(4))
    for op in ("isnan", "isinf", "isfinite"):
        v.case(op, "int64", lambda x, f=getattr(torch, op): f(x), x=v.integers(4))
    v.case("isinf", "positive", lambda x, negative: torch.isposinf(x), {"negative": False}, x=SPECIAL)
    v.case("isinf", "negative", lambda x, positive: torch.isneginf(x), {"positive": False}, x=SPECIAL)


def add_closeness(v):
    close = lambda x, y, **options: torch.isclose(x, y, **options)
    pair = torch.tensor([1.0, 2.0, 4.0, -8.0]), torch.tensor([1.1, 2.0, 4.5, -8.5])
    for name, attrs in (("default", {}), ("rtol", {"rtol": 0.12}), ("atol", {"atol": 0.3}),
                        ("exactly", {"rtol": 0.0, "atol": 0.0}), ("nan", {"equal_nan": True})):
        v.case("isclose", name, close, attrs, [], x=pair[0], y=pair[1])
        v.case("isclose", name + "_special", close, attrs, [], x=SPECIAL, y=SPECIAL.flip(0))
        v.case("isclose", name + "_same_special", close, attrs, [], x=SPECIAL, y=SPECIAL.clone())
    v.case("isclose", "int64", close, {"rtol": 0.0, "atol": 2.0}, x=v.integers(5), y=v.integers(5))
    logit = lambda x, eps=None: torch.logit(x, eps)
    v.case("logit", "default", logit, x=v.positive(7, low=0.05, high=0.95))
    v.case("logit", "eps", logit, {"eps": 0.125}, x=torch.tensor([-1.0, 0.0625, 0.3, 0.75, 2.0]))
    v.case("logit", "ends", logit, wrt=[], x=torch.tensor([0.0, 1.0, -1.0, 2.0, NAN]))
    v.case("rrelu", "mean_slope", lambda x: F.rrelu(x), x=v.values(7))
    v.case("rrelu", "slopes", lambda x, lower, upper: F.rrelu(x, lower, upper),
           {"lower": -0.5, "upper": 0.25}, x=v.values(7))


def add_further(v):
    for op in ("hypot", "copysign"):
        function = lambda x, y, f=getattr(torch, op): f(x, y)
        v.case(op, "vectors", function, x=v.values(7), y=v.values(7))
        v.case(op, "broadcast", function, x=v.values(3, 1), y=v.values(4))
        v.case(op, "special", function, wrt=[], x=SPECIAL, y=SPECIAL.flip(0))
    xlogy = lambda x, y: torch.xlogy(x, y)
    v.case("xlogy", "vectors", xlogy, x=v.values(7), y=v.positive(7))
    v.case("xlogy", "zeros", xlogy, x=torch.tensor([0.0, 0.0, 2.0]),
           y=torch.tensor([0.5, 3.0, 0.25]))
    v.case("xlogy", "special", xlogy, wrt=[], x=torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0, -1.0]),
           y=torch.tensor([0.0, -1.0, NAN, INF, 0.0, -1.0]))
    v.case("exp2", "vector", lambda x: torch.exp2(x), x=v.values(7, scale=20.0))
    v.case("exp2", "special", lambda x: torch.exp2(x), wrt=[], x=SPECIAL)
    v.case("frac", "vector", lambda x: torch.frac(x), x=v.values(7, scale=20.0))
    for op in ("addcmul", "addcdiv"):
        function = lambda x, y, z, value=1, f=getattr(torch, op): f(x, y, z, value=value)
        v.case(op, "vectors", function, x=v.values(5), y=v.values(5), z=v.positive(5))
        v.case(op, "value", function, {"value": -0.5}, x=v.values(3, 1), y=v.values(4),
               z=v.positive(4))
    v.case("kron", "matrices", lambda x, y: torch.kron(x, y), x=v.values(2, 3), y=v.values(2, 2))
    v.case("kron", "vector", lambda x, y: torch.kron(x, y), x=v.values(3), y=v.values(2, 2))
    cross = lambda x, y, dim=-1: torch.linalg.cross(x, y, dim=dim)
    v.case("cross", "rows", cross, x=v.values(4, 3), y=v.values(4, 3))
    v.case("cross", "columns", cross, {"dim": 0}, x=v.values(3, 2), y=v.values(3, 2))


PARTS = (add_unary, add_clamp, add_arithmetic, add_pow, add_compare, add_where, add_activations,
         add_pow_number, add_more_clamp, add_special, add_kinked, add_more_binary, add_bits,
         add_classes, add_closeness, add_further)
