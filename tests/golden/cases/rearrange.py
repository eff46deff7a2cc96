"""Cases of rearrangements, scattering, searching and bags of embeddings."""

import torch
from torch.nn import functional as F


def add_rearrangements(v):
    v.case("channel_shuffle", "groups", lambda x, groups: F.channel_shuffle(x, groups),
           {"groups": 2}, x=v.values(1, 6, 2, 2))
    v.case("pixel_shuffle", "images", lambda x, upscale: F.pixel_shuffle(x, upscale),
           {"upscale": 2}, x=v.values(1, 8, 2, 3))
    v.case("pixel_unshuffle", "images", lambda x, downscale: F.pixel_unshuffle(x, downscale),
           {"downscale": 2}, x=v.values(1, 2, 4, 6))
    roll = lambda x, shifts, dims=(): torch.roll(x, tuple(shifts), tuple(dims))
    v.case("roll", "flat", roll, {"shifts": [2]}, x=v.values(2, 3))
    v.case("roll", "two", roll, {"shifts": [1, -5], "dims": [0, 1]}, x=v.values(2, 3))
    rot = lambda x, k=1, dims=(0, 1): torch.rot90(x, k, tuple(dims))
    for name, attrs in (("once", {}), ("twice", {"k": 2}), ("back", {"k": -1}),
                        ("other_dims", {"k": 1, "dims": [2, 1]})):
        v.case("rot90", name, rot, attrs, x=v.values(2, 3, 2))
    repeat = lambda x, repeats, dim: torch.repeat_interleave(x, repeats, dim)
    v.case("repeat_interleave", "rows", repeat, {"repeats": 2, "dim": 0}, x=v.values(2, 3))
    v.case("repeat_interleave", "columns", repeat, {"repeats": 3, "dim": -1}, x=v.values(2, 3))
    for indexing in ("ij", "xy"):
        v.case("meshgrid", indexing,
               lambda tensors, indexing: torch.meshgrid(*tensors, indexing=indexing),
               {"indexing": indexing}, tensors=[v.values(2), v.values(3)])
    window = lambda x, dim, size, step: x.unfold(dim, size, step)
    v.case("sliding_window", "overlapping", window, {"dim": 0, "size": 3, "step": 2},
           x=v.values(7, 2))
    v.case("sliding_window", "last", window, {"dim": -1, "size": 2, "step": 3}, x=v.values(2, 8))
    v.case("unflatten", "inferred", lambda x, dim, sizes: torch.unflatten(x, dim, sizes),
           {"dim": 1, "sizes": [2, -1]}, x=v.values(2, 6, 2))
    v.case("narrow", "columns", lambda x, dim, start, length: torch.narrow(x, dim, start, length),
           {"dim": 1, "start": -3, "length": 2}, x=v.values(2, 5))
    diagonal = lambda x, offset=0, dim1=0, dim2=1: torch.diagonal(x, offset, dim1, dim2)
    v.case("diagonal", "square", diagonal, x=v.values(3, 3))
    v.case("diagonal", "wide", diagonal, {"offset": 1, "dim1": -2, "dim2": -1}, x=v.values(2, 3, 5))
    v.case("diagonal", "below", diagonal, {"offset": -2}, x=v.values(4, 3))
    embed = lambda x, offset=0, dim1=-2, dim2=-1: torch.diag_embed(x, offset, dim1, dim2)
    v.case("diag_embed", "vectors", embed, x=v.values(2, 3))
    v.case("diag_embed", "above", embed, {"offset": 1}, x=v.values(3))
    v.case("diag_embed", "below_other_dims", embed, {"offset": -1, "dim1": 0, "dim2": 2},
           x=v.values(2, 2))
    for op, function in (("tril", torch.tril), ("triu", torch.triu)):
        for diagonal in (0, 1, -2):
            v.case(op, f"diagonal_{diagonal}".replace("-", "minus_"),
                   lambda x, diagonal, f=function: f(x, diagonal), {"diagonal": diagonal},
                   x=v.values(3, 4))


# In the order of Firn's enumerators.
SCATTER_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
BAG_MODES = ("sum", "mean", "max")


def add_scatters(v):
    scatter = lambda x, indices, source, dim: torch.scatter(x, dim, indices, source)
    rows = torch.tensor([[2, 0, 1], [1, 1, 0]])
    v.case("scatter", "rows", scatter, {"dim": 0}, x=v.values(3, 3), source=v.values(2, 3),
           indices=torch.tensor([[2, 0, 1], [1, 1, 0]]))
    v.case("scatter", "columns", scatter, {"dim": -1}, x=v.values(2, 4), source=v.values(2, 2),
           indices=torch.tensor([[3, 0], [1, 2]]))
    v.case("scatter", "int64", scatter, {"dim": 0}, x=v.integers(4), source=v.integers(2),
           indices=torch.tensor([3, 1]))
    for number, reduce in enumerate(SCATTER_REDUCTIONS):
        run = lambda x, indices, source, dim, reduction, include_self=True: torch.scatter_reduce(
            x, dim, indices, source, SCATTER_REDUCTIONS[reduction], include_self=include_self)
        for include_self in (True, False):
            v.case("scatter_reduce", reduce + ("" if include_self else "_without_x"), run,
                   {"dim": 0, "reduction": number, "include_self": include_self},
                   x=v.values(3, 3), indices=rows, source=v.values(2, 3))
    ties = torch.tensor([5.0, 5.0, 2.0])
    v.case("scatter_reduce", "ties", run, {"dim": 0, "reduction": 3}, x=torch.tensor([5.0, 0.0]),
           indices=torch.tensor([0, 0, 0]), source=ties)
    v.case("scatter_reduce", "products_with_zeros", run, {"dim": 0, "reduction": 1},
           x=torch.tensor([2.0, 0.0, 3.0]), indices=torch.tensor([0, 0, 1, 2]),
           source=torch.tensor([0.0, 5.0, 0.0, 0.0]))
    fill = lambda x, mask, source: torch.masked_scatter(x, mask, source)
    v.case("masked_scatter", "matrix", fill, x=v.values(2, 3), mask=v.mask(2, 3),
           source=v.values(7))
    v.case("masked_scatter", "rows", fill, x=v.values(2, 3), mask=torch.tensor([[True], [False]]),
           source=v.values(3))


def add_searches(v):
    search = lambda sorted, values, right=False: torch.searchsorted(sorted, values, right=right)
    line = torch.tensor([-1.0, 0.0, 0.0, 0.5, 2.0, 2.0])
    for right in (False, True):
        name = "right" if right else "left"
        v.case("searchsorted", name, search, {"right": right}, [], sorted=line,
               values=torch.tensor([[0.0, 2.0, -3.0], [4.0, 0.25, 0.5]]))
        v.case("searchsorted", name + "_rows", search, {"right": right},
               sorted=torch.tensor([[1, 2, 3], [2, 2, 2]]), values=torch.tensor([[2, 0], [2, 3]]))
    v.case("isin", "floats", lambda x, test: torch.isin(x, test), wrt=[], x=line,
           test=torch.tensor([0.0, 2.0, 7.0]))
    v.case("isin", "int64", lambda x, test: torch.isin(x, test), x=v.integers(6),
           test=v.integers(3))

    def unique(x, dim=None):
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True, dim=dim)
        return {"values": values, "inverse": inverse, "counts": counts}

    v.case("unique", "floats", unique, wrt=[], x=torch.tensor([3.0, 1.0, 2.0, 1.0, 3.0]))
    v.case("unique", "matrix", unique, x=v.integers(3, 4, high=4))
    v.case("unique", "rows", unique, {"dim": 0}, x=torch.tensor([[2, 5], [1, 0], [2, 5], [1, 3]]))
    v.case("unique", "columns", unique, {"dim": 1}, x=torch.tensor([[1, 0, 1], [2, 5, 2]]))


def add_shape_of(v):
    run = lambda x, start=0, end=None: torch.tensor(list(x.shape)[start:end], dtype=torch.int64)
    for name, attrs in (("all", {}), ("some", {"start": 1, "end": 3}), ("last", {"start": -1}),
                        ("outside", {"start": -9, "end": 9}), ("none", {"start": 3})):
        v.case("shape_of", name, run, attrs, [], x=v.values(2, 3, 4))


def add_bags(v):
    def run(indices, weight, offsets=None, per_sample_weights=None, kind=1, padding_idx=None):
        return F.embedding_bag(indices, weight, offsets, mode=BAG_MODES[kind],
                               per_sample_weights=per_sample_weights, padding_idx=padding_idx)

    lists, flat = torch.tensor([[0, 3, 2], [2, 1, 3]]), torch.tensor([0, 3, 2, 2, 1])
    for kind, mode in enumerate(BAG_MODES):
        v.case("embedding_bag", mode, run, {"kind": kind}, indices=lists, weight=v.values(4, 3))
        v.case("embedding_bag", mode + "_offsets", run, {"kind": kind}, indices=flat,
               weight=v.values(4, 3), offsets=torch.tensor([0, 2, 2]))
        v.case("embedding_bag", mode + "_padding", run, {"kind": kind, "padding_idx": 2},
               indices=lists, weight=v.values(4, 3))
    v.case("embedding_bag", "weights", run, {"kind": 0}, indices=lists, weight=v.values(4, 3),
           per_sample_weights=v.values(2, 3))


PARTS = (add_rearrangements, add_scatters, add_searches, add_shape_of, add_bags)
