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


PARTS = (add_unary, add_clamp, add_arithmetic, add_pow, add_compare, add_where, add_activations,
         add_pow_number, add_more_clamp)
