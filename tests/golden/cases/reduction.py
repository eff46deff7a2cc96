"""Reductions, scans, sorting and softmax."""

import math

import torch

NAN, INF = math.nan, math.inf


def dims_of(dims, x):
    """Firn's empty list means every dimension."""
    return tuple(dims) or tuple(range(x.dim()))


def over(function):
    return lambda x, dims=(), keepdim=False, **more: function(
        x, dim=dims_of(dims, x), keepdim=keepdim, **more)


def product(x, dim, keepdim):
    for d in sorted((d % max(x.dim(), 1) for d in dim), reverse=True) if x.dim() else ():
        x = torch.prod(x, d, keepdim=keepdim)
    return x


GRID = {"all": {}, "all_keepdim": {"keepdim": True}, "first": {"dims": [0]},
        "last": {"dims": [-1]}, "middle_keepdim": {"dims": [1], "keepdim": True},
        "two": {"dims": [0, 2]}, "two_negative_keepdim": {"dims": [-1, -2], "keepdim": True}}


def add_grid(v, op, function, fill=None):
    fill = fill or v.values
    for name, attrs in GRID.items():
        v.case(op, name, over(function), attrs, x=fill(2, 3, 4))
    v.case(op, "vector", over(function), x=fill(5))
    v.case(op, "scalar", over(function), x=fill())
    v.case(op, "rank4", over(function), {"dims": [0, 2, 3]}, x=fill(2, 3, 2, 2))


def add_sums(v):
    functions = {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin,
                 "prod": product, "logsumexp": torch.logsumexp}
    for op, function in functions.items():
        add_grid(v, op, function)
    with_nan = torch.tensor([[1.0, NAN], [2.0, 3.0]])
    for op in ("sum", "mean", "amax", "amin", "prod"):
        v.case(op, "nan_propagates", over(functions[op]), {"dims": [1]}, wrt=[], x=with_nan)
    for op in ("sum", "mean", "prod"):
        v.case(op, "over_no_elements", over(functions[op]), {"dims": [0]}, wrt=[],
               x=v.values(0, 3))
        v.case(op, "of_empty", over(functions[op]), {"dims": [1]}, x=v.values(0, 3))
    for op in ("sum", "prod"):
        v.case(op, "bool_gives_int64", over(functions[op]), {"dims": [1]}, x=v.mask(3, 4))
        v.case(op, "int32_gives_int64", over(functions[op]), x=v.integers(6, low=-3).int())
    ties = torch.tensor([[3.0, 1.0, 3.0], [-1.0, -1.0, -1.0]])
    for op in ("amax", "amin"):
        v.case(op, "ties_share_the_gradient", over(functions[op]), {"dims": [1]}, x=ties)
        v.case(op, "int64", over(functions[op]), {"dims": [0]}, x=v.integers(3, 4))
    v.case("prod", "one_zero", over(product), x=torch.tensor([2.0, 0.0, -3.0]))
    v.case("prod", "two_zeros", over(product), x=torch.tensor([2.0, 0.0, 0.0]))
    v.case("prod", "zero_in_a_row", over(product), {"dims": [1]},
           x=torch.tensor([[2.0, 0.0, 4.0], [1.0, 3.0, 5.0]]))
    v.case("logsumexp", "large", over(torch.logsumexp), {"dims": [1]},
           x=torch.tensor([[1e4, 1e4 - 1, 0.0], [-1e4, -1e4, -1e4 + 2]]))
    v.case("logsumexp", "all_minus_infinity", over(torch.logsumexp), {"dims": [1]}, wrt=[],
           x=torch.tensor([[-INF, -INF], [-INF, 1.0]]))
    v.case("sum", "long", over(torch.sum), x=v.values(257))
    for name, source, shape in (("rows", (4, 3), (3,)), ("columns", (4, 3), (4, 1)),
                                ("same", (4, 3), (4, 3)), ("to_one", (2, 3, 4), (1, 1)),
                                ("middle", (2, 3, 4), (2, 1, 4)), ("to_scalar", (2, 3), ())):
        v.case("sum_to", name, lambda x, shape: x.sum_to_size(*shape) if shape else x.sum(),
               {"shape": list(shape)}, x=v.values(*source))


def add_spread(v):
    for op, function in (("var", torch.var), ("std", torch.std), ("var_mean", torch.var_mean)):
        def run(x, dims=(), correction=1, keepdim=False, f=function):
            result = f(x, dim=dims_of(dims, x), correction=correction, keepdim=keepdim)
            return dict(zip(("var", "mean"), result)) if f is torch.var_mean else result
        for name, attrs in {"all": {}, "rows": {"dims": [1]},
                            "biased": {"dims": [0], "correction": 0},
                            "two_keepdim": {"dims": [0, 2], "keepdim": True},
                            "correction_two": {"dims": [-1], "correction": 2}}.items():
            v.case(op, name, run, attrs, x=v.values(2, 3, 4))
        v.case(op, "one_element_is_nan", run, {"dims": [1]}, wrt=[], x=v.values(3, 1))
        v.case(op, "offset", run, x=v.integers(6).float() + 4096)
    v.case("std", "zero_has_zero_gradient", lambda x, dims: torch.std(x, dim=dims), {"dims": [1]},
           x=torch.tensor([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]]))


def add_norm(v):
    def run(x, p=2.0, dims=(), keepdim=False):
        return torch.linalg.vector_norm(x, p, dim=dims_of(dims, x), keepdim=keepdim)
    for name, attrs in GRID.items():
        v.case("norm", name, run, attrs, x=v.values(2, 3, 4))
    for p in (1.0, 3.0, 0.5, 0.0, INF, -INF):
        name = f"p_{p}".replace("-", "minus_").replace(".", "_")
        v.case("norm", name, run, {"p": p, "dims": [1]}, x=v.values(3, 4))
    v.case("norm", "zero_vector_has_zero_gradient", run, {"dims": [1]},
           x=torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    v.case("norm", "p_one_zero_elements", run, {"p": 1.0}, x=torch.tensor([0.0, -2.0, 3.0]))
    v.case("norm", "p_inf_ties", run, {"p": INF}, x=torch.tensor([2.0, -2.0, 1.0]))
    v.case("norm", "frobenius", run, {"dims": [-2, -1]}, x=v.values(2, 3, 3))


def add_indices(v):
    ties = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, NAN, 5.0]])
    for op in ("argmax", "argmin"):
        run = lambda x, dim=None, keepdim=False, f=getattr(torch, op): f(x, dim, keepdim)
        v.case(op, "flattened", run, x=v.values(3, 4))
        v.case(op, "flattened_keepdim", run, {"keepdim": True}, x=v.values(3, 4))
        v.case(op, "rows", run, {"dim": 1}, x=v.values(3, 4))
        v.case(op, "columns_keepdim", run, {"dim": 0, "keepdim": True}, x=v.values(3, 4))
        v.case(op, "negative_dim", run, {"dim": -2}, x=v.values(2, 3, 4))
        v.case(op, "first_of_ties_and_nan", run, {"dim": 1}, x=ties)
        v.case(op, "int64", run, {"dim": 0}, x=v.integers(4, 3, high=50))
    for op in ("max", "min"):
        run = lambda x, dim, keepdim=False, f=getattr(torch, op): f(x, dim, keepdim)
        v.case(op, "rows", run, {"dim": 1}, x=v.values(3, 4))
        v.case(op, "keepdim", run, {"dim": -2, "keepdim": True}, x=v.values(2, 3, 4))
        v.case(op, "first_of_ties_takes_the_gradient", run, {"dim": 1}, x=ties[:2])
    for op in ("any", "all"):
        for name, attrs in GRID.items():
            v.case(op, name, over(getattr(torch, op)), attrs, x=v.integers(2, 3, 4, high=3) > 0)
        v.case(op, "float_nan_is_true", over(getattr(torch, op)), {"dims": [1]},
               x=torch.tensor([[0.0, NAN], [0.0, 0.0], [1.0, 2.0]]))
        v.case(op, "over_no_elements", over(getattr(torch, op)), {"dims": [0]}, x=v.mask(0, 2))


def running_sum(x, dim, exclusive=False, reverse=False):
    if reverse:
        x = x.flip(dim)
    y = torch.cumsum(x, dim)
    if exclusive:
        y = y - x
    return y.flip(dim) if reverse else y


def add_order(v):
    for name, attrs in {"rows": {"dim": 1}, "columns": {"dim": 0}, "negative": {"dim": -1},
                        "exclusive": {"dim": 1, "exclusive": True},
                        "reverse": {"dim": 1, "reverse": True},
                        "exclusive_reverse": {"dim": 0, "exclusive": True, "reverse": True},
                        }.items():
        v.case("cumsum", name, running_sum, attrs, x=v.values(3, 4))
    v.case("cumsum", "int32_gives_int64", running_sum, {"dim": 0}, x=v.integers(5).int())
    v.case("cumsum", "rank3", running_sum, {"dim": 1}, x=v.values(2, 3, 2))
    sort = lambda x, dim=-1, descending=False, stable=False: torch.sort(
        x, dim=dim, descending=descending, stable=stable)
    v.case("sort", "default", sort, x=v.values(2, 5))
    v.case("sort", "descending", sort, {"descending": True}, x=v.values(2, 5))
    v.case("sort", "dim", sort, {"dim": 0}, x=v.values(4, 2, 2))
    ties = torch.tensor([2.0, 1.0, 2.0, 1.0, 0.0])
    v.case("sort", "stable_ties", sort, {"stable": True}, x=ties)
    v.case("sort", "stable_ties_descending", sort, {"stable": True, "descending": True}, x=ties)
    v.case("sort", "nan_is_largest", sort, wrt=[], x=torch.tensor([1.0, NAN, -INF, INF]))
    v.case("sort", "int64", sort, x=v.integers(7, high=1000))
    topk = lambda x, k, dim=-1, largest=True: torch.topk(x, k, dim, largest)
    v.case("topk", "largest", topk, {"k": 2}, x=v.values(3, 5))
    v.case("topk", "smallest", topk, {"k": 3, "largest": False}, x=v.values(3, 5))
    v.case("topk", "dim", topk, {"k": 1, "dim": 0}, x=v.values(4, 2, 2))
    v.case("topk", "everything", topk, {"k": 4}, x=v.values(4))
    v.case("topk", "nan_is_largest", topk, {"k": 2}, wrt=[], x=torch.tensor([1.0, NAN, INF, 0]))


def add_softmax(v):
    functions = {"softmax": torch.softmax, "log_softmax": torch.log_softmax,
                 "softmin": torch.nn.functional.softmin}
    for op, function in functions.items():
        run = lambda x, dim, f=function: f(x, dim=dim)
        v.case(op, "rows", run, {"dim": 1}, x=v.values(3, 5))
        v.case(op, "columns", run, {"dim": 0}, x=v.values(3, 5))
        v.case(op, "vector", run, {"dim": -1}, x=v.values(6))
        v.case(op, "channels", run, {"dim": 1}, x=v.values(2, 3, 2, 2))
        v.case(op, "one_class", run, {"dim": 1}, x=v.values(3, 1))
        v.case(op, "empty", run, {"dim": 1}, x=v.values(0, 4))
        v.case(op, "large", run, {"dim": 1},
               x=torch.tensor([[1e4, 1e4 - 1, -1e4], [-1e4, -1e4 - 2, -1e4]]))
        v.case(op, "infinities", run, {"dim": 1}, wrt=[],
               x=torch.tensor([[-INF, 0.0, 1.0], [-INF, -INF, -INF], [INF, 0.0, 1.0]]))


def running_product(x, dim, exclusive=False, reverse=False):
    if reverse:
        x = x.flip(dim)
    y = torch.cumprod(x, dim)
    if exclusive:
        y = torch.cat([torch.ones_like(x.narrow(dim, 0, 1)).to(y.dtype),
                       y.narrow(dim, 0, y.shape[dim] - 1)], dim)
    return y.flip(dim) if reverse else y


def add_cumprod(v):
    zeros = torch.tensor([[2.0, 0, 3, -1], [0, 2, 0.5, 1.5], [0, 1, 0, 2]])
    for name, attrs in (("rows", {"dim": 1}), ("columns", {"dim": 0}), ("last", {"dim": -1}),
                        ("exclusive", {"dim": 1, "exclusive": True}),
                        ("reverse", {"dim": 1, "reverse": True}),
                        ("exclusive_reverse", {"dim": 0, "exclusive": True, "reverse": True})):
        v.case("cumprod", name, running_product, attrs, x=v.values(3, 4))
        v.case("cumprod", "zeros_" + name, running_product, attrs, x=zeros)
    v.case("cumprod", "int32_gives_int64", running_product, {"dim": 0}, x=v.integers(5, low=1).int())
    v.case("cumprod", "rank3", running_product, {"dim": 1}, x=v.values(2, 3, 2))


def add_order_statistics(v):
    distinct = torch.tensor([[5.0, 1.0, 3.0, 2.0], [8.0, 4.0, 0.5, 7.0]])
    median = lambda x, dim=-1, keepdim=False: torch.median(x, dim, keepdim)
    v.case("median", "even", median, x=distinct)
    v.case("median", "columns_kept", median, {"dim": 0, "keepdim": True}, x=distinct)
    v.case("median", "nan", median, wrt=[], x=torch.tensor([1.0, NAN, 0.0]))
    kth = lambda x, k, dim=-1, keepdim=False: torch.kthvalue(x, k, dim, keepdim)
    for k in (1, 3, 4):
        v.case("kthvalue", f"k_{k}", kth, {"k": k}, x=distinct)
    v.case("kthvalue", "columns_kept", kth, {"k": 2, "dim": 0, "keepdim": True}, x=distinct)


def add_quantiles(v):
    distinct = torch.tensor([[5.0, 1.0, 3.0, 2.0], [8.0, 4.0, 0.5, 7.0]])
    holes = torch.tensor([[5.0, NAN, 3.0, 2.0], [8.0, 4.0, 0.5, 7.0]])
    few = torch.tensor([0.0, 0.3, 0.5, 1.0])
    for op, x in (("quantile", distinct), ("nanquantile", holes)):
        of = getattr(torch, op)

        def function(x, q, dim=None, keepdim=False, interpolation="linear", of=of):
            return of(x, torch.tensor(q, dtype=x.dtype) if isinstance(q, float) else q, dim, keepdim,
                      interpolation=interpolation)

        v.case(op, "all", function, {"q": 0.3}, x=x)
        v.case(op, "rows_kept", function, {"q": 0.9, "dim": 1, "keepdim": True}, x=x)
        v.case(op, "several", function, {"dim": -1}, ["x"], x=x, q=few)
        v.case(op, "several_kept", function, {"dim": 0, "keepdim": True}, ["x"], x=x, q=few)
        v.case(op, "several_of_all", function, {"keepdim": True}, ["x"], x=x, q=few)
        for rule in ("lower", "higher", "nearest", "midpoint"):
            v.case(op, rule, function, {"dim": 1, "interpolation": rule}, ["x"], x=x, q=few)
        v.case(op, "half_way_to_even", function, {"interpolation": "nearest"}, ["x"],
               x=torch.tensor([1.0, 7.0, 4.0]), q=torch.tensor([0.25, 0.75]))
    # It is not specified which NaN of several gets the gradient.
    v.case("nanquantile", "nothing_left", lambda x, q, dim: torch.nanquantile(x, q, dim), {"q": 0.5, "dim": 1}, [],
           x=torch.tensor([[NAN, NAN], [NAN, 3.0]]))
    v.case("quantile", "nan", lambda x, q, dim: torch.quantile(x, q, dim), {"q": 0.1, "dim": 1}, [], x=holes)


def add_counts(v):
    holes = torch.tensor([[1.0, NAN, 3.0], [NAN, 2.0, 7.0]])
    nonzero = lambda x, dims=None: torch.count_nonzero(x, tuple(dims) if dims else None)
    v.case("count_nonzero", "all", nonzero, wrt=[], x=torch.tensor([0.0, 1.0, -0.0, NAN]))
    v.case("count_nonzero", "rows", nonzero, {"dims": [1]}, x=v.integers(3, 4, high=2))
    mean = lambda x, dims=None, keepdim=False: torch.nanmean(x, tuple(dims) if dims else None,
                                                             keepdim)
    v.case("nanmean", "all", mean, x=holes)
    v.case("nanmean", "rows_kept", mean, {"dims": [1], "keepdim": True}, x=holes)
    count = lambda x, weights=None, minlength=0: torch.bincount(x, weights, minlength)
    v.case("bincount", "numbers", count, x=v.integers(9, high=5))
    v.case("bincount", "minlength", count, {"minlength": 8}, x=v.integers(5, high=4))
    v.case("bincount", "weights", count, wrt=[], x=v.integers(9, high=5), weights=v.values(9))
    histogram = lambda x, bins=100, min=0.0, max=0.0: torch.histc(x, bins, min, max)
    v.case("histc", "range", histogram, {"bins": 4, "min": -1.0, "max": 1.0}, [], x=v.values(20))
    v.case("histc", "own_range", histogram, {"bins": 3}, [], x=v.values(20))
    v.case("histc", "borders", histogram, {"bins": 4, "min": 0.0, "max": 4.0}, [],
           x=torch.tensor([0.0, 1.0, 4.0, 5.0, -1.0, 3.0]))


def add_running(v):
    ties = torch.tensor([[1.0, 3.0, 3.0, 2.0], [4.0, 0.0, 0.0, 4.0]])
    for op in ("cummax", "cummin"):
        function = lambda x, dim, f=getattr(torch, op): f(x, dim)
        v.case(op, "rows", function, {"dim": 1}, x=v.values(3, 5))
        v.case(op, "ties", function, {"dim": -1}, x=ties)
        v.case(op, "nan", function, {"dim": 0}, [], x=torch.tensor([1.0, NAN, 3.0, NAN, 0.0]))
    running = lambda x, dim: torch.logcumsumexp(x, dim)
    v.case("logcumsumexp", "rows", running, {"dim": 1}, x=v.values(3, 5))
    v.case("logcumsumexp", "columns", running, {"dim": 0}, x=v.values(3, 2, scale=40.0))
    v.case("logcumsumexp", "infinities", running, {"dim": 0}, [],
           x=torch.tensor([-INF, -INF, 1.0, INF, 2.0]))

    def diff(x, prepend=None, append=None, n=1, dim=-1):
        return torch.diff(x, n, dim, prepend, append)

    v.case("diff", "rows", diff, x=v.values(3, 5))
    v.case("diff", "twice", diff, {"n": 2, "dim": 0}, x=v.values(4, 2))
    v.case("diff", "joined", diff, x=v.values(2, 3), prepend=v.values(2, 1), append=v.values(2, 2))
    v.case("diff", "bool", diff, x=v.mask(6))


PARTS = (add_sums, add_spread, add_norm, add_indices, add_order, add_softmax, add_cumprod,
         add_order_statistics, add_quantiles, add_counts, add_running)
