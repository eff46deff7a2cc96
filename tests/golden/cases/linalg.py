"""Decompositions, systems of equations, and powers of matrices."""

import torch
from torch import nn


def add_decompositions(v):
    """Matrices far from singular ones. Eigenvectors and singular vectors have free signs."""
    def regular(*shape):
        return v.values(*shape) / 4 + 2 * torch.eye(shape[-2], shape[-1])

    def definite(*shape):
        x = v.values(*shape)
        return x @ x.mT + shape[-1] * torch.eye(shape[-1])

    for name, shape in (("one_row", (1, 1)), ("matrix", (4, 4)), ("batch", (2, 3, 3)),
                        ("no_rows", (2, 0, 0))):
        v.case("inv", name, lambda a: torch.linalg.inv(a), a=regular(*shape))
        v.case("det", name, lambda a: torch.linalg.det(a), a=regular(*shape))
        v.case("slogdet", name,
               lambda a: dict(zip(("sign", "logabsdet"), torch.linalg.slogdet(a))),
               a=regular(*shape))
        for upper in (False, True):
            v.case("cholesky", f"{name}_{'upper' if upper else 'lower'}",
                   lambda a, upper: torch.linalg.cholesky(a, upper=upper), {"upper": upper},
                   a=definite(*shape))
    for name, left, right in (("matrices", (3, 3), (3, 2)), ("vector", (3, 3), (3,)),
                              ("batch_of_vectors", (2, 3, 3), (2, 3)),
                              ("broadcast", (2, 3, 3), (1, 3, 2))):
        v.case("solve", name, lambda a, b: torch.linalg.solve(a, b), a=regular(*left),
               b=v.values(*right))
    for upper in (False, True):
        for side in (True, False):
            for unit in (False, True):
                v.case("solve_triangular", f"{upper}_{side}_{unit}".lower(),
                       lambda a, b, upper, left, unit_diagonal: torch.linalg.solve_triangular(
                           a, b, upper=upper, left=left, unitriangular=unit_diagonal),
                       {"upper": upper, "left": side, "unit_diagonal": unit}, a=regular(3, 3),
                       b=v.values(3, 3))
    for name, shape in (("tall", (4, 2)), ("wide", (2, 4)), ("square", (3, 3)),
                        ("batch", (2, 3, 2))):
        v.case("qr", name, lambda a: dict(zip("qr", torch.linalg.qr(a))), a=regular(*shape))
        v.case("pinv", name, lambda a: torch.linalg.pinv(a), a=regular(*shape))
    for power in (1, 2, 5, 0, -2):
        v.case("matrix_power", f"power_{power}".replace("-", "minus_"),
               lambda a, n: torch.linalg.matrix_power(a, n), {"n": power}, a=regular(2, 3, 3))


def add_bilinear(v):
    def bilinear(x, target, weight, bias=None, **attrs):  # target: the second operand
        parameters = {"weight": weight} | ({} if bias is None or bias is False else {"bias": bias})
        layer = nn.Bilinear(attrs["in1"], attrs["in2"], attrs["out"],
                            bias="bias" in parameters).double()
        return torch.func.functional_call(layer, parameters, (x, target))

    sizes = {"in1": 3, "in2": 2, "out": 4}
    v.case("bilinear", "with_bias", bilinear, sizes, ["x", "weight", "bias"], x=v.values(5, 3),
           target=v.values(5, 2), weight=v.values(4, 3, 2), bias=v.values(4))
    v.case("bilinear", "without_bias", bilinear, {**sizes, "bias": False}, ["x", "weight"],
           x=v.values(2, 2, 3), target=v.values(2, 2, 2), weight=v.values(4, 3, 2))


PARTS = (add_decompositions,)
LAYERS = (add_bilinear,)
