"""Views, copies, concatenation, padding, indexing and constants."""

import torch
from torch.nn import functional as F

DTYPES = {"f32": torch.float32, "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8,
          "bool": torch.bool, "bf16": torch.bfloat16, "f16": torch.float16}


def add_views(v):
    reshape = lambda x, shape: x.reshape(*shape) if shape else x.reshape(())
    for name, source, shape in (("flat", (2, 3), [6]), ("inferred", (2, 3, 4), [4, -1]),
                                ("to_scalar", (1, 1), []), ("from_scalar", (), [1, 1]),
                                ("empty", (0, 3), [3, 0])):
        v.case("reshape", name, reshape, {"shape": shape}, x=v.values(*source))
    flatten = lambda x, start_dim=0, end_dim=-1: torch.flatten(x, start_dim, end_dim)
    v.case("flatten", "all", flatten, x=v.values(2, 3, 2))
    v.case("flatten", "from_one", flatten, {"start_dim": 1}, x=v.values(2, 3, 2))
    v.case("flatten", "middle", flatten, {"start_dim": 1, "end_dim": -2}, x=v.values(2, 2, 3, 2))
    v.case("flatten", "scalar", flatten, x=v.values())
    squeeze = lambda x, dims=(): torch.squeeze(x, tuple(dims)) if dims else torch.squeeze(x)
    v.case("squeeze", "all", squeeze, x=v.values(1, 3, 1, 2))
    v.case("squeeze", "some", squeeze, {"dims": [0, -2]}, x=v.values(1, 3, 1, 2))
    v.case("squeeze", "larger_dims_stay", squeeze, {"dims": [1]}, x=v.values(1, 3))
    v.case("squeeze", "to_scalar", squeeze, x=v.values(1, 1))
    for dim in (0, 1, -1):
        v.case("unsqueeze", f"dim_{dim}".replace("-", "minus_"), lambda x, dim: x.unsqueeze(dim),
               {"dim": dim}, x=v.values(2, 3))
    for name, shape, a, b in (("matrix", (2, 3), 0, 1), ("negative", (2, 3, 4), -1, 0),
                              ("same", (2, 3), 1, 1)):
        v.case("transpose", name, lambda x, dim0, dim1: x.transpose(dim0, dim1),
               {"dim0": a, "dim1": b}, x=v.values(*shape))
    permute = lambda x, dims: x.permute(*dims)
    v.case("permute", "channels_last", permute, {"dims": [0, 2, 3, 1]}, x=v.values(2, 3, 2, 2))
    v.case("permute", "negative", permute, {"dims": [-1, 0, 1]}, x=v.values(2, 3, 2))
    move = lambda x, source, destination: torch.movedim(x, source, destination)
    v.case("movedim", "one", move, {"source": [0], "destination": [-1]}, x=v.values(2, 3, 2))
    v.case("movedim", "two", move, {"source": [0, 1], "destination": [1, 2]}, x=v.values(2, 3, 2))
    expand = lambda x, shape: x.expand(*shape)
    v.case("expand", "rows", expand, {"shape": [4, 3]}, x=v.values(1, 3))
    v.case("expand", "new_dims_and_kept", expand, {"shape": [2, -1, 3]}, x=v.values(2, 1))
    v.case("expand", "from_scalar", expand, {"shape": [2, 2]}, x=v.values())
    copies = {"contiguous": lambda x: x.contiguous(), "clone": lambda x: x.clone(),
              "identity": lambda x: x.clone()}
    for op, copy in copies.items():
        v.case(op, "matrix", copy, x=v.values(2, 3))
        v.case(op, "int64", copy, x=v.integers(3))
    v.case("detach", "matrix", lambda x: x.detach(), x=v.values(2, 3))


def picked(x, dim, start=0, end=None, step=1):
    """x[start:end:step] along dim, by Python's rules for negative and outlying bounds."""
    return x[tuple([slice(None)] * (dim % x.dim()) + [slice(start, end, step)])]


def add_slices(v):
    grid = {"range": {"start": 1, "end": 3}, "step": {"step": 2}, "start_only": {"start": 2},
            "negative": {"start": -3, "end": -1}, "beyond_the_end": {"start": 2, "end": 99},
            "nothing": {"start": 3, "end": 3}, "start_step": {"start": 1, "end": 5, "step": 3}}
    for name, attrs in grid.items():
        for dim, shape in ((0, (5, 2)), (-1, (2, 5))):
            tag = f"{name}_dim_{dim}".replace("-", "minus_")
            options = {"dim": dim, **attrs}
            v.case("slice", tag, picked, options, x=v.values(*shape))
            source = picked(torch.empty(shape), **options)
            v.case("slice_scatter", tag,
                   lambda x, source, dim, **rest: torch.slice_scatter(x, source, dim, **rest),
                   options, x=v.values(*shape), source=v.values(*source.shape))
    for dim, index in ((0, 1), (1, -1), (-1, 0)):
        v.case("select", f"dim_{dim}_index_{index}".replace("-", "minus_"),
               lambda x, dim, index: x.select(dim, index), {"dim": dim, "index": index},
               x=v.values(2, 3, 2))
    for name, attrs in {"size": {"size": 2}, "size_with_rest": {"size": 2, "dim": 1},
                        "sizes": {"sizes": [1, 3, 0], "dim": 0}}.items():
        v.case("split", name, lambda x, size=None, sizes=None, dim=0: torch.split(
            x, size or list(sizes), dim), attrs, x=v.values(4, 5))
    for n, dim in ((2, 0), (3, 1), (4, 1)):
        v.case("chunk", f"n_{n}_dim_{dim}", lambda x, n, dim: torch.chunk(x, n, dim),
               {"n": n, "dim": dim}, x=v.values(4, 5))
    for dim in (0, 1, -1):
        v.case("unbind", f"dim_{dim}".replace("-", "minus_"),
               lambda x, dim: torch.unbind(x, dim), {"dim": dim}, x=v.values(2, 3, 2))


def add_joins(v):
    concat = lambda tensors, dim=0: torch.cat(tensors, dim)
    v.case("concat", "rows", concat, tensors=[v.values(2, 3), v.values(1, 3), v.values(2, 3)])
    v.case("concat", "columns", concat, {"dim": -1}, tensors=[v.values(2, 1), v.values(2, 3)])
    v.case("concat", "channels", concat, {"dim": 1},
           tensors=[v.values(2, 1, 2, 2), v.values(2, 2, 2, 2)])
    v.case("concat", "with_empty", concat, tensors=[v.values(0, 2), v.values(2, 2)])
    v.case("concat", "promotes", concat, tensors=[v.values(2), v.integers(3)])
    stack = lambda tensors, dim=0: torch.stack(tensors, dim)
    for name, dim, shape in (("first", 0, (2, 2)), ("last", -1, (2, 2)), ("scalars", 0, ())):
        v.case("stack", name, stack, {"dim": dim}, tensors=[v.values(*shape) for _ in range(3)])
    for name, shape, repeats in (("row", (3,), [2]), ("both", (2, 2), [2, 3]),
                                 ("more_repeats", (2,), [2, 1, 2]), ("fewer", (2, 2), [2]),
                                 ("none", (2, 2), [0, 1])):
        v.case("tile", name, lambda x, repeats: torch.tile(x, tuple(repeats)),
               {"repeats": repeats}, x=v.values(*shape))
    for name, dims in (("rows", [0]), ("both", [0, -1]), ("last", [-1])):
        v.case("flip", name, lambda x, dims: torch.flip(x, dims), {"dims": dims},
               x=v.values(2, 3, 2))


def symmetric(x, pad):
    """Reflection that repeats the edge, one dimension at a time by indexing."""
    for i in range(0, len(pad), 2):
        dim, size = x.dim() - 1 - i // 2, x.shape[x.dim() - 1 - i // 2]
        index = [*range(pad[i] - 1, -1, -1), *range(size), *range(size - 1, size - 1 - pad[i + 1],
                                                                  -1)]
        x = x.index_select(dim, torch.tensor(index))
    return x


def add_pad(v):
    def pad(x, pad, mode="constant", value=0.0):
        if mode == "symmetric":
            return symmetric(x, pad)
        return F.pad(x, pad, mode) if mode != "constant" else F.pad(x, pad, value=value)

    v.case("pad", "last", pad, {"pad": [1, 2]}, x=v.values(2, 3))
    v.case("pad", "two_dims_value", pad, {"pad": [1, 0, 2, 1], "value": -1.5}, x=v.values(2, 2))
    v.case("pad", "negative_crops", pad, {"pad": [-1, 1, 0, -1]}, x=v.values(3, 3))
    v.case("pad", "all_dims", pad, {"pad": [1, 1, 0, 1, 1, 0]}, x=v.values(1, 2, 2))
    for mode in ("reflect", "replicate", "circular", "symmetric"):
        v.case("pad", mode + "_1d", pad, {"pad": [2, 1], "mode": mode}, x=v.values(1, 2, 4))
        v.case("pad", mode + "_2d", pad, {"pad": [1, 2, 2, 1], "mode": mode},
               x=v.values(1, 1, 3, 4))


def add_indexing(v):
    embed = lambda indices, weight, padding_idx=None, scale_grad_by_freq=False: F.embedding(
        indices, weight, padding_idx, scale_grad_by_freq=scale_grad_by_freq)
    for name, shape, attrs in (
            ("vector", (4,), {}), ("matrix", (2, 3), {}), ("scalar", (), {}), ("none", (0,), {}),
            ("repeats", (9,), {}), ("padding", (2, 6), {"padding_idx": 1}),
            ("negative_padding", (8,), {"padding_idx": -1}),
            ("scaled_by_frequency", (9,), {"scale_grad_by_freq": True})):
        v.case("embedding", name, embed, attrs, indices=v.integers(*shape, high=4),
               weight=v.values(4, 3))

    def index_select(x, dim, indices, batch_dims=0):
        if batch_dims:
            return torch.stack([index_select(row, (dim % x.dim()) - 1, i, batch_dims - 1)
                                for row, i in zip(x, indices)])
        dim = dim % x.dim()
        flat = x.index_select(dim, indices.reshape(-1) % x.shape[dim])
        return flat.reshape(*x.shape[:dim], *indices.shape, *x.shape[dim + 1:])

    for name, shape, dim, indices, attrs in (
            ("rows", (4, 3), 0, [2, 0, 2], {}), ("columns", (2, 4), -1, [3, 1], {}),
            ("negative_indices", (4, 2), 0, [-1, -4, 1], {}),
            ("matrix_of_indices", (3, 4), 1, [[0, 2], [3, 3]], {}),
            ("nothing", (3, 2), 0, [], {}), ("one", (3, 2), 0, 1, {}),
            ("batched", (2, 4), 1, [[0, 3, 3], [1, 1, 2]], {"batch_dims": 1})):
        v.case("index_select", name, index_select, {"dim": dim, **attrs}, x=v.values(*shape),
               indices=torch.tensor(indices, dtype=torch.int64))
    add = lambda x, dim, indices, source, alpha=1: torch.index_add(x, dim, indices, source,
                                                                   alpha=alpha)
    v.case("index_add", "repeated_rows", add, {"dim": 0}, x=v.values(3, 2),
           indices=torch.tensor([2, 0, 2]), source=v.values(3, 2))
    v.case("index_add", "columns_alpha", add, {"dim": -1, "alpha": -0.5}, x=v.values(2, 3),
           indices=torch.tensor([1, 1]), source=v.values(2, 2))
    v.case("index_add", "nothing", add, {"dim": 0}, x=v.values(3, 2),
           indices=torch.tensor([], dtype=torch.int64), source=v.values(0, 2))
    gather = lambda x, dim, indices: torch.gather(x, dim, indices)
    scatter_add = lambda x, dim, indices, source: torch.scatter_add(x, dim, indices, source)
    for dim, name in ((0, "rows"), (1, "columns"), (-1, "last")):
        v.case("gather", name, gather, {"dim": dim}, x=v.values(3, 4),
               indices=v.integers(2, 3, high=3))
        v.case("scatter_add", name, scatter_add, {"dim": dim}, x=v.values(3, 4),
               indices=v.integers(2, 3, high=3), source=v.values(2, 3))
    v.case("scatter_add", "larger_source", scatter_add, {"dim": 0}, ["x"], x=v.values(4),
           indices=torch.tensor([1, 1]), source=v.values(3))
    fill = lambda x, mask, value: torch.masked_fill(x, mask, value)
    v.case("masked_fill", "same", fill, {"value": -1.0}, x=v.values(2, 3), mask=v.mask(2, 3))
    v.case("masked_fill", "broadcast_infinity", fill, {"value": float("-inf")}, x=v.values(2, 2, 3),
           mask=v.mask(2, 1))
    choose = lambda x, mask: torch.masked_select(x, mask)
    v.case("masked_select", "same", choose, x=v.values(3, 3), mask=v.mask(3, 3))
    v.case("masked_select", "broadcast", choose, x=v.values(2, 3),
           mask=torch.tensor([True, False, True]))
    v.case("masked_select", "nothing", choose, x=v.values(3), mask=torch.zeros(3).bool())
    v.case("one_hot", "given_classes", lambda indices, num_classes: F.one_hot(indices, num_classes),
           {"num_classes": 5}, indices=v.integers(2, 3, high=4))
    v.case("one_hot", "counted_classes", lambda indices: F.one_hot(indices),
           indices=torch.tensor([0, 2, 1]))
    for name, x in (("matrix", v.integers(3, 3, high=2).float()), ("vector", v.mask(6)),
                    ("none", torch.zeros(2, 2)), ("nan_counts", torch.tensor([0.0, float("nan")])),
                    ("rank3", v.integers(2, 2, 2, high=2)), ("scalar", torch.tensor(3.0))):
        v.case("nonzero", name, lambda x: torch.nonzero(x), x=x)


def add_constants(v):
    full = lambda shape, value, dtype: torch.full(shape, value, dtype=DTYPES[dtype])
    v.case("full", "f32", full, {"shape": [2, 3], "value": 1.5, "dtype": "f32"})
    v.case("full", "i64", full, {"shape": [3], "value": -7, "dtype": "i64"})
    v.case("full", "bool", full, {"shape": [2], "value": True, "dtype": "bool"})
    v.case("full", "scalar", full, {"shape": [], "value": 0.25, "dtype": "f32"})
    v.case("full", "empty", full, {"shape": [0, 2], "value": 1.0, "dtype": "f32"})
    arange = lambda start, end, step=1: torch.arange(start, end, step)
    v.case("arange", "integers", arange, {"start": 0, "end": 5})
    v.case("arange", "negative_step", arange, {"start": 5, "end": -2, "step": -3})
    v.case("arange", "floats", arange, {"start": 0.5, "end": 3.0, "step": 0.5})
    v.case("arange", "partial_last_step", arange, {"start": 1.0, "end": 2.1, "step": 0.3})
    v.case("arange", "nothing", arange, {"start": 2, "end": 2})
    cast = lambda x, dtype: x.to(DTYPES[dtype])
    mixed = torch.tensor([-1.75, -0.5, 0.0, 0.5, 1.75, 3.0])
    for dtype in ("i64", "i32", "bool"):
        v.case("cast", "f32_to_" + dtype, cast, {"dtype": dtype}, [], x=mixed)
    v.case("cast", "f32_to_u8", cast, {"dtype": "u8"}, [], x=mixed.abs())
    v.case("cast", "f32_to_f32", lambda x, dtype: x.clone(), {"dtype": "f32"}, x=mixed)
    v.case("cast", "i64_to_f32", cast, {"dtype": "f32"}, x=torch.tensor([0, -3, 16777217]))
    v.case("cast", "bool_to_f32", cast, {"dtype": "f32"}, x=v.mask(4))
    v.case("cast", "i64_to_i32", cast, {"dtype": "i32"}, x=v.integers(4, low=-5))
    halves = torch.tensor([0.1, -1.0, 65504.0, 1e-3, 3.1415927, 1.00390625, float("nan")])
    for dtype in ("bf16", "f16"):
        v.case("cast", "f32_to_" + dtype, lambda x, dtype: x.float().to(DTYPES[dtype]),
               {"dtype": dtype}, [], x=halves)
    assign = lambda target, source: {"target": target.detach().clone().copy_(source.detach())}
    v.case("assign", "same", assign, target=v.values(2, 3), source=v.values(2, 3))
    v.case("assign", "broadcast", assign, target=v.values(2, 3), source=v.values(3))
    v.case("assign", "casts", assign, target=v.values(3), source=v.integers(3))


def entries(indices, dims=None):
    """The subscript with indices[i] at dimension dims[i] and whole dimensions between."""
    dims = list(range(len(indices))) if dims is None else list(dims)
    subscript = [slice(None)] * (dims[-1] + 1)
    for dim, index in zip(dims, indices):
        subscript[dim] = index
    return tuple(subscript)


def put(x, indices, values, dims=None, accumulate=False):
    where = [None if isinstance(e, slice) else e for e in entries(indices, dims)]
    return torch.ops.aten.index_put(x, where, values, accumulate)


def write(target, indices, values, dims=None):
    return {"target": put(target.detach(), indices, values.detach(), dims)}


def add_advanced_indexing(v):
    rows, columns = torch.tensor([2, 0, 2]), torch.tensor([[1], [-1]])
    grid = {
        "rows": ((3, 4), [rows], {}), "matrix_of_rows": ((3, 4), [columns], {}),
        "pairs": ((3, 4), [rows, torch.tensor([1, 3, -1])], {}),
        "broadcast_pairs": ((3, 4, 2), [rows, columns], {}),
        "neighbours_stay_in_place": ((2, 3, 4), [rows, columns], {"dims": [1, 2]}),
        "others_come_first": ((3, 2, 4), [rows, columns], {"dims": [0, 2]}),
        "nothing": ((3, 2), [torch.zeros(0).long()], {}),
    }
    mask = torch.tensor([[True, False, True], [False, True, False]])
    masks = {"mask": ((2, 3), [mask], {}), "mask_of_rows": ((2, 3, 2), [mask], {}),
             "mask_and_index": ((2, 3), [mask[:, 0], torch.tensor([2])], {})}
    select = lambda x, indices, dims=None: x[entries(indices, dims)]
    for name, (shape, indices, attrs) in {**grid, **masks}.items():
        v.case("index", name, select, attrs, x=v.values(*shape), indices=indices)
        taken = select(torch.empty(shape), indices, **attrs).shape
        v.case("index_put", name + "_added", put, {**attrs, "accumulate": True},
               x=v.values(*shape), indices=indices, values=v.values(*taken))
    # PyTorch does not say which of several values for one place stays, so no case has several.
    once = {"rows": ((3, 4), [torch.tensor([2, 0])], {}),
            "pairs": ((3, 4), [torch.tensor([0, 2]), torch.tensor([-1, 1])], {}),
            "apart": ((3, 2, 4), [torch.tensor([2, 0]), columns], {"dims": [0, 2]})}
    for name, (shape, indices, attrs) in once.items():
        taken = select(torch.empty(shape), indices, **attrs).shape
        v.case("index_put", name, put, attrs, x=v.values(*shape), indices=indices,
               values=v.values(*taken))
        v.case("index_write", name, write, attrs or {"dims": list(range(len(indices)))},
               target=v.values(*shape), indices=indices, values=v.values(*taken))
    v.case("index_put", "values_broadcast", put, x=v.values(3, 4),
           indices=[torch.tensor([0, 2])], values=v.values(4))


def add_more_constants(v):
    linspace = lambda start, end, steps: torch.linspace(start, end, steps, dtype=torch.float64)
    for name, attrs in {"ascending": {"start": 0.0, "end": 1.0, "steps": 5},
                        "descending": {"start": 2.5, "end": -1.0, "steps": 8},
                        "one": {"start": 3.0, "end": 7.0, "steps": 1},
                        "none": {"start": 0.0, "end": 1.0, "steps": 0}}.items():
        v.case("linspace", name, linspace, attrs)
    diagonal = lambda n, m, offset=0: torch.ones(n, m).tril(offset).triu(offset)
    v.case("eye", "square", diagonal, {"n": 3, "m": 3})
    v.case("eye", "wide", diagonal, {"n": 2, "m": 4})
    v.case("eye", "above", diagonal, {"n": 3, "m": 4, "offset": 1})
    v.case("eye", "below", diagonal, {"n": 3, "m": 4, "offset": -2})
    add = lambda target, source: {"target": target.detach() + source.detach()}
    v.case("accumulate", "matrix", add, target=v.values(2, 3), source=v.values(2, 3))
    v.case("accumulate", "int64", add, target=v.integers(4), source=v.integers(4))


PARTS = (add_views, add_slices, add_joins, add_pad, add_indexing, add_constants,
         add_advanced_indexing, add_more_constants)
