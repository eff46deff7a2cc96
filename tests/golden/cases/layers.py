"""Products, convolutions, pooling and normalisation."""

import torch
from torch.nn import functional as F


def add_products(v):
    for name, left, right in (
            ("dot", (4,), (4,)), ("matrix_vector", (3, 4), (4,)), ("vector_matrix", (4,), (4, 3)),
            ("matrices", (3, 4), (4, 2)), ("batched", (2, 3, 4), (2, 4, 2)),
            ("broadcast_batch", (2, 1, 3, 4), (5, 4, 2)), ("batch_and_matrix", (2, 3, 4), (4, 2)),
            ("matrix_and_batch", (3, 4), (2, 4, 2)), ("vector_and_batch", (4,), (2, 4, 3)),
            ("batch_and_vector", (2, 3, 4), (4,)), ("one_by_one", (1, 1), (1, 1)),
            ("no_inner_elements", (2, 0), (0, 3)), ("no_rows", (0, 3), (3, 2)),
            ("odd_sizes", (9, 17), (17, 5))):
        v.case("matmul", name, lambda a, b: a @ b, a=v.values(*left), b=v.values(*right))
    v.case("matmul", "int64", lambda a, b: a @ b, a=v.integers(2, 3), b=v.integers(3, 2))
    linear = lambda x, weight, bias=None: F.linear(x, weight, bias)
    for name, shape in (("vector", (4,)), ("matrix", (3, 4)), ("rank3", (2, 3, 4)),
                        ("no_rows", (0, 4))):
        v.case("linear", name, linear, x=v.values(*shape), weight=v.values(5, 4), bias=v.values(5))
    v.case("linear", "no_bias", linear, x=v.values(2, 4), weight=v.values(5, 4))
    v.case("linear", "one_output", linear, x=v.values(3, 7), weight=v.values(1, 7),
           bias=v.values(1))
    for name, equation, *shapes in (
            ("matmul", "ij,jk->ik", (2, 3), (3, 4)), ("implicit", "ij,jk", (2, 3), (3, 4)),
            ("trace", "ii->", (3, 3)), ("diagonal", "ii->i", (3, 3)),
            ("transpose", "ijk->kji", (2, 3, 4)), ("sum_all", "ij->", (2, 3)),
            ("outer", "i,j->ij", (2,), (3,)), ("batched", "bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
            ("ellipsis", "...ij,...jk->...ik", (2, 2, 3), (3, 2)),
            ("three", "ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
            ("hadamard", "ij,ij->ij", (2, 3), (2, 3)),
            ("attention", "bqhd,bkhd->bhqk", (1, 3, 2, 4), (1, 2, 2, 4))):
        v.case("einsum", name, lambda tensors, equation: torch.einsum(equation, *tensors),
               {"equation": equation}, tensors=[v.values(*shape) for shape in shapes])

    tensordot = lambda a, b, dims_a, dims_b: torch.tensordot(a, b, dims=(dims_a, dims_b))
    v.case("tensordot", "one", tensordot, {"dims_a": [1], "dims_b": [0]}, a=v.values(2, 3),
           b=v.values(3, 4))
    v.case("tensordot", "two", tensordot, {"dims_a": [1, 2], "dims_b": [2, 0]},
           a=v.values(2, 3, 4), b=v.values(4, 5, 3))
    bilinear = lambda x1, x2, weight, bias=None: F.bilinear(x1, x2, weight, bias)
    v.case("bilinear", "with_bias", bilinear, x1=v.values(3, 4), x2=v.values(3, 2),
           weight=v.values(5, 4, 2), bias=v.values(5))
    v.case("bilinear", "vectors", bilinear, x1=v.values(2), x2=v.values(3),
           weight=v.values(2, 2, 3))


def add_convolution(v):
    def conv2d(x, weight, bias=None, **options):
        return F.conv2d(x, weight, bias, **options)

    def conv1d(x, weight, bias=None, **options):
        return F.conv1d(x, weight, bias, **options)

    def case(name, x, weight, bias=True, **attrs):
        extra = {"bias": v.values(weight[0])} if bias else {}
        v.case("conv2d", name, conv2d, attrs, x=v.values(*x), weight=v.values(*weight), **extra)

    case("plain", (1, 2, 4, 5), (3, 2, 3, 3))
    case("pad", (2, 2, 4, 4), (3, 2, 3, 3), padding=[1, 1])
    case("no_bias", (1, 2, 4, 4), (2, 2, 2, 2), bias=False)
    case("stride", (1, 2, 7, 6), (2, 2, 3, 3), stride=[2, 2], padding=[1, 1])
    case("uneven", (1, 1, 6, 7), (2, 1, 3, 2), stride=[2, 1], padding=[0, 1], dilation=[1, 2])
    case("dilation", (1, 2, 7, 7), (2, 2, 3, 3), dilation=[2, 2], padding=[2, 2])
    case("groups", (1, 4, 4, 4), (6, 2, 3, 3), padding=[1, 1], groups=2)
    case("depthwise", (1, 3, 4, 4), (3, 1, 3, 3), padding=[1, 1], groups=3)
    case("depthwise_multiplier", (1, 2, 4, 4), (4, 1, 3, 3), groups=2)
    case("pointwise", (2, 3, 2, 3), (4, 3, 1, 1))
    case("pointwise_stride", (1, 2, 5, 5), (3, 2, 1, 1), bias=False, stride=[2, 2])
    case("kernel5", (1, 1, 6, 6), (2, 1, 5, 5), padding=[2, 2])
    case("whole_image", (2, 2, 3, 3), (3, 2, 3, 3))
    case("big_padding", (1, 1, 2, 2), (1, 1, 3, 3), padding=[3, 3])
    case("same", (1, 2, 4, 5), (2, 2, 3, 2), padding="same")
    case("valid", (1, 2, 4, 5), (2, 2, 3, 2), padding="valid")
    case("empty_batch", (0, 2, 4, 4), (3, 2, 3, 3))
    case("eight_by_eight", (1, 3, 8, 8), (2, 3, 3, 3), padding=[1, 1])
    v.case("conv1d", "plain", conv1d, x=v.values(2, 2, 6), weight=v.values(3, 2, 3),
           bias=v.values(3))
    v.case("conv1d", "options", conv1d, {
        "stride": [2], "padding": [2], "dilation": [2], "groups": 2}, x=v.values(1, 4, 7),
           weight=v.values(2, 2, 3))
    transpose = lambda x, weight, bias=None, **options: F.conv_transpose2d(x, weight, bias,
                                                                           **options)
    for name, x, weight, attrs in (
            ("plain", (1, 2, 3, 3), (2, 3, 3, 3), {}),
            ("stride", (1, 2, 3, 3), (2, 2, 3, 3), {"stride": [2, 2], "padding": [1, 1]}),
            ("output_padding", (1, 2, 2, 3), (2, 2, 3, 3),
             {"stride": [2, 2], "padding": [1, 1], "output_padding": [1, 0]}),
            ("groups", (1, 4, 3, 3), (4, 1, 2, 2), {"stride": [2, 2], "groups": 2}),
            ("dilation", (1, 1, 3, 3), (1, 2, 3, 3), {"dilation": [2, 1], "padding": [1, 0]})):
        channels = weight[1] * attrs.get("groups", 1)
        v.case("conv_transpose2d", name, transpose, attrs, x=v.values(*x), weight=v.values(*weight),
               bias=v.values(channels))
    v.case("conv_transpose2d", "no_bias", transpose, x=v.values(2, 1, 2, 2),
           weight=v.values(1, 1, 2, 2))
    add_convolutions_of_other_ranks(v)


def add_convolutions_of_other_ranks(v):
    def of(function):
        return lambda x, weight, bias=None, **options: function(x, weight, bias, **options)

    def case(op, name, x, weight, bias=True, **attrs):
        channels = weight[0]
        if "transpose" in op:
            channels = weight[1] * attrs.get("groups", 1)
        extra = {"bias": v.values(channels)} if bias else {}
        v.case(op, name, of(getattr(F, op)), attrs, x=v.values(*x), weight=v.values(*weight),
               **extra)

    case("conv1d", "same", (1, 2, 6), (2, 2, 4), padding="same")
    case("conv1d", "unbatched", (2, 6), (3, 2, 3), padding=[1])
    case("conv1d", "empty_batch", (0, 2, 5), (3, 2, 3))
    case("conv2d", "unbatched", (2, 4, 5), (3, 2, 3, 3), padding=[1, 0])
    case("conv2d", "unbatched_same", (1, 4, 5), (2, 1, 2, 2), bias=False, padding="same")
    case("conv3d", "plain", (1, 2, 3, 4, 3), (3, 2, 2, 2, 2))
    case("conv3d", "options", (1, 4, 4, 5, 6), (2, 2, 2, 3, 2), stride=[1, 2, 2],
         padding=[1, 0, 1], dilation=[2, 1, 1], groups=2)
    case("conv3d", "same", (1, 1, 3, 3, 4), (2, 1, 2, 3, 4), padding="same")
    case("conv3d", "unbatched", (2, 3, 3, 3), (1, 2, 2, 2, 2), bias=False)
    case("conv_transpose1d", "plain", (2, 2, 4), (2, 3, 3))
    case("conv_transpose1d", "options", (1, 4, 4), (4, 1, 3), stride=[2], padding=[1],
         output_padding=[1], groups=2, dilation=[2])
    case("conv_transpose1d", "unbatched", (2, 3), (2, 1, 2), bias=False, stride=[2])
    case("conv_transpose2d", "unbatched", (2, 3, 3), (2, 2, 2, 2), stride=[2, 2])
    case("conv_transpose3d", "plain", (1, 2, 2, 3, 2), (2, 2, 2, 2, 2))
    case("conv_transpose3d", "options", (1, 2, 2, 2, 3), (2, 1, 2, 1, 2), stride=[2, 1, 2],
         padding=[1, 0, 0], output_padding=[1, 0, 1], groups=2, dilation=[1, 2, 1])
    case("conv_transpose3d", "unbatched", (1, 2, 2, 2), (1, 2, 2, 2, 2), bias=False)
    add_unfolding(v)


def add_unfolding(v):
    def unfold(x, kernel, **options):
        return F.unfold(x, kernel, **options)

    def fold(x, output_size, kernel, **options):
        return F.fold(x, output_size, kernel, **options)

    options = {"kernel": [3, 2], "dilation": [2, 1], "padding": [1, 2], "stride": [1, 2]}
    v.case("unfold", "plain", unfold, {"kernel": [2, 3]}, x=v.values(1, 2, 3, 4))
    v.case("unfold", "square", unfold, {"kernel": 2}, x=v.values(2, 1, 3, 3))
    v.case("unfold", "options", unfold, options, x=v.values(1, 1, 7, 5))
    v.case("unfold", "unbatched", unfold, {"kernel": [2, 2]}, x=v.values(2, 3, 3))
    v.case("fold", "plain", fold, {"output_size": [3, 4], "kernel": [2, 3]}, x=v.values(1, 12, 4))
    v.case("fold", "square", fold, {"output_size": 3, "kernel": 2}, x=v.values(2, 4, 4))
    v.case("fold", "options", fold, {"output_size": [7, 5], **options}, x=v.values(1, 6, 20))
    v.case("fold", "unbatched", fold, {"output_size": [3, 3], "kernel": [2, 2]},
           x=v.values(8, 4))


def add_pooling(v):
    def max_pool(x, kernel, return_indices=False, **options):
        result = F.max_pool2d(x, kernel, return_indices=return_indices, **options)
        return dict(zip(("y", "indices"), result)) if return_indices else result

    def avg_pool(x, kernel, divisor_override=None, **options):
        return F.avg_pool2d(x, kernel, divisor_override=divisor_override, **options)

    grid = {
        "two": ((1, 2, 4, 4), {"kernel": [2, 2]}),
        "overlapping": ((1, 1, 5, 5), {"kernel": [3, 3], "stride": [2, 2]}),
        "pad": ((2, 1, 5, 4), {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1]}),
        "uneven": ((1, 2, 5, 6), {"kernel": [2, 3], "stride": [1, 2], "padding": [1, 0]}),
        "remainder_is_dropped": ((1, 1, 5, 5), {"kernel": [2, 2]}),
        "ceil_mode": ((1, 1, 5, 6), {"kernel": [2, 2], "ceil_mode": True}),
        "ceil_mode_pad": ((1, 1, 6, 7), {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1],
                                         "ceil_mode": True}),
        # A window that would start in the right padding is left out.
        "ceil_mode_last_window": ((1, 1, 4, 4), {"kernel": [2, 2], "stride": [3, 3],
                                                 "padding": [1, 1], "ceil_mode": True}),
        "whole_image": ((2, 2, 3, 3), {"kernel": [3, 3]}),
    }
    for name, (shape, attrs) in grid.items():
        v.case("max_pool2d", name, max_pool, attrs, x=v.values(*shape))
        v.case("avg_pool2d", name, avg_pool, attrs, x=v.values(*shape))
    v.case("max_pool2d", "dilation", max_pool, {"kernel": [2, 2], "stride": [1, 1],
                                                "dilation": [2, 3]}, x=v.values(1, 1, 5, 6))
    v.case("max_pool2d", "indices", max_pool, {"kernel": [2, 2], "return_indices": True},
           x=v.values(2, 2, 4, 5))
    v.case("max_pool2d", "padding_never_wins", max_pool, {
        "kernel": [3, 3], "padding": [1, 1], "return_indices": True}, x=v.values(1, 1, 3, 3) - 9)
    v.case("max_pool2d", "first_of_ties", max_pool, {"kernel": [2, 2], "return_indices": True},
           x=torch.ones(1, 1, 4, 4))
    wins = v.values(1, 1, 4, 4)
    wins[0, 0, 1, 2] = float("nan")
    v.case("max_pool2d", "nan_wins", max_pool, {"kernel": [2, 2]}, wrt=[], x=wins)
    uncounted = {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "count_include_pad": False}
    v.case("avg_pool2d", "padding_not_counted", avg_pool, uncounted, x=v.values(1, 2, 5, 5))
    v.case("avg_pool2d", "padding_not_counted_ceil_mode", avg_pool, {
        **uncounted, "ceil_mode": True}, x=v.values(1, 1, 6, 6))
    v.case("avg_pool2d", "divisor", avg_pool, {"kernel": [2, 2], "divisor_override": 1},
           x=v.values(1, 1, 4, 4))
    for name, shape, size in (("one", (2, 3, 4, 5), [1, 1]), ("divides", (1, 2, 6, 4), [3, 2]),
                              ("overlapping", (1, 1, 5, 7), [3, 4]),
                              ("grows", (1, 1, 2, 3), [4, 5]), ("identity", (1, 1, 3, 3), [3, 3])):
        v.case("adaptive_avg_pool2d", name,
               lambda x, output_size: F.adaptive_avg_pool2d(x, output_size),
               {"output_size": size}, x=v.values(*shape))
    add_averages_of_other_ranks(v)


def add_averages_of_other_ranks(v):
    def case(op, name, shape, **attrs):
        function = getattr(F, op)

        def call(x, kernel=None, p=None, output_size=None, **options):
            return function(x, *[a for a in (p, output_size, kernel) if a is not None], **options)

        v.case(op, name, call, attrs, x=v.values(*shape))

    case("avg_pool1d", "two", (2, 2, 5), kernel=[2])
    case("avg_pool1d", "options", (1, 2, 8), kernel=[3], stride=[2], padding=[1], ceil_mode=True,
         count_include_pad=False)
    case("avg_pool1d", "unbatched", (2, 6), kernel=[3], stride=[1])
    case("avg_pool2d", "unbatched", (2, 4, 5), kernel=[2, 2])
    case("avg_pool3d", "two", (1, 2, 4, 5, 4), kernel=[2, 2, 2])
    case("avg_pool3d", "options", (1, 1, 5, 6, 7), kernel=[2, 3, 2], stride=[2, 1, 3],
         padding=[1, 1, 0], ceil_mode=True)
    case("avg_pool3d", "padding_not_counted", (1, 1, 4, 4, 5), kernel=[3, 3, 2], stride=[2, 2, 2],
         padding=[1, 1, 1], count_include_pad=False, ceil_mode=True)
    case("avg_pool3d", "divisor", (1, 1, 2, 4, 4), kernel=[2, 2, 2], divisor_override=3)
    case("avg_pool3d", "unbatched", (2, 4, 3, 4), kernel=[2, 2, 2])
    case("adaptive_avg_pool1d", "overlapping", (2, 2, 7), output_size=[3])
    case("adaptive_avg_pool1d", "unbatched", (2, 5), output_size=[2])
    case("adaptive_avg_pool2d", "unbatched", (3, 4, 5), output_size=[2, 3])
    case("adaptive_avg_pool3d", "one", (2, 2, 2, 3, 2), output_size=[1, 1, 1])
    case("adaptive_avg_pool3d", "overlapping", (1, 2, 3, 5, 4), output_size=[2, 3, 4])
    case("adaptive_avg_pool3d", "unbatched", (2, 3, 4, 3), output_size=[1, 2, 2])
    case("lp_pool1d", "two", (2, 2, 6), p=2.0, kernel=3)
    case("lp_pool1d", "unbatched", (2, 7), p=4.0, kernel=2, stride=3, ceil_mode=True)
    case("lp_pool2d", "two", (1, 2, 4, 5), p=2.0, kernel=[2, 3])
    case("lp_pool2d", "ceil_mode", (1, 2, 5, 5), p=4.0, kernel=[2, 2], ceil_mode=True)
    case("lp_pool2d", "one", (1, 1, 4, 4), p=1.0, kernel=[2, 2], stride=[1, 2])
    case("lp_pool2d", "unbatched", (2, 4, 4), p=2.0, kernel=[2, 2])


def add_normalisation(v):
    def batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False,
                   momentum=0.1, eps=1e-5):
        mean, var = running_mean.detach().clone(), running_var.detach().clone()
        y = F.batch_norm(x, mean, var, weight, bias, training, momentum, eps)
        return {"y": y, "running_mean": mean, "running_var": var}

    def case(name, shape, affine=True, **attrs):
        channels = shape[1]
        inputs = {"x": v.values(*shape), "running_mean": v.values(channels),
                  "running_var": v.positive(channels)}
        if affine:
            inputs |= {"weight": v.values(channels), "bias": v.values(channels)}
        v.case("batch_norm", name, batch_norm, attrs, ["x", "weight", "bias"], **inputs)

    for name, shape in (("rows", (5, 3)), ("sequence", (3, 2, 4)), ("images", (3, 2, 3, 2)),
                        ("volumes", (2, 2, 2, 2, 2))):
        case("training_" + name, shape, training=True)
        case("inference_" + name, shape)
    case("training_plain", (4, 2, 2, 2), affine=False, training=True)
    case("inference_plain", (4, 2, 2, 2), affine=False)
    case("training_options", (4, 3), training=True, momentum=0.3, eps=0.01)
    case("training_momentum_one", (4, 3), training=True, momentum=1.0)
    case("one_channel", (2, 1, 3, 3), training=True)
    constant = torch.full((3, 2), 1.5)
    v.case("batch_norm", "training_zero_variance", batch_norm, {"training": True},
           ["x", "weight", "bias"], x=constant, running_mean=torch.zeros(2),
           running_var=torch.ones(2), weight=v.values(2), bias=v.values(2))
    layer_norm = lambda x, normalized_shape, weight=None, bias=None, eps=1e-5: F.layer_norm(
        x, normalized_shape, weight, bias, eps)
    for name, shape, normalized in (("rows", (3, 5), [5]), ("last_two", (2, 3, 4), [3, 4]),
                                    ("tokens", (2, 3, 6), [6]), ("everything", (2, 3), [2, 3])):
        v.case("layer_norm", name, layer_norm, {"normalized_shape": normalized}, x=v.values(*shape),
               weight=v.values(*normalized), bias=v.values(*normalized))
    v.case("layer_norm", "plain", layer_norm, {"normalized_shape": [4]}, x=v.values(3, 4))
    v.case("layer_norm", "eps", layer_norm, {"normalized_shape": [4], "eps": 0.1}, x=v.values(2, 4),
           weight=v.values(4))
    group_norm = lambda x, num_groups, weight=None, bias=None, eps=1e-5: F.group_norm(
        x, num_groups, weight, bias, eps)
    for name, shape, groups in (("two_groups", (2, 4, 3, 2), 2), ("one_group", (2, 4, 3), 1),
                                ("each_channel", (2, 3, 4), 3), ("rows", (3, 6), 2)):
        v.case("group_norm", name, group_norm, {"num_groups": groups}, x=v.values(*shape),
               weight=v.values(shape[1]), bias=v.values(shape[1]))
    v.case("group_norm", "plain_eps", group_norm, {"num_groups": 2, "eps": 0.1},
           x=v.values(2, 4, 3))


def per_channel(values, x):
    return values.reshape(-1, *[1] * (x.dim() - 2))


def add_channels(v):
    def affine(x, scale=None, shift=None):
        x = x if scale is None else x * per_channel(scale, x)
        return x if shift is None else x + per_channel(shift, x)

    def activated(x, activation, training=False, weight=None, bias=None):
        mean, var = torch.zeros(x.shape[1]).double(), torch.ones(x.shape[1]).double()
        y = F.batch_norm(x, mean, var, weight, bias, training)
        return {"y": getattr(torch, activation)(y), "running_mean": mean, "running_var": var}

    for name, shape in (("rows", (4, 3)), ("images", (2, 3, 2, 3)), ("volumes", (2, 2, 2, 1, 3))):
        channels = shape[1]
        v.case("channel_affine", name, affine, x=v.values(*shape), scale=v.values(channels),
               shift=v.values(channels))
        v.case("channel_sum", name, lambda x: x.transpose(0, 1).flatten(1).sum(1),
               x=v.values(*shape))
    v.case("channel_affine", "scale_only", affine, x=v.values(2, 3, 4), scale=v.values(3))
    v.case("channel_affine", "shift_only", affine, x=v.values(2, 3, 4), shift=v.values(3))
    for activation in ("relu", "tanh"):
        for name, attrs in (("training_", {"training": True}), ("inference_", {})):
            v.case("batch_norm", name + activation,
                   lambda x, running_mean, running_var, **rest: activated(x, **rest),
                   {**attrs, "activation": activation}, ["x", "weight", "bias"],
                   x=v.values(3, 2, 3, 2), running_mean=torch.zeros(2),
                   running_var=torch.ones(2), weight=v.values(2), bias=v.values(2))


def add_rms_norm(v):
    norm = lambda x, normalized_shape, weight=None, eps=None: F.rms_norm(
        x, normalized_shape, weight, eps)
    v.case("rms_norm", "last", norm, {"normalized_shape": [4], "eps": 1e-5}, x=v.values(2, 3, 4),
           weight=v.values(4))
    v.case("rms_norm", "two_dims", norm, {"normalized_shape": [3, 4], "eps": 0.1},
           x=v.values(2, 3, 4), weight=v.values(3, 4))
    v.case("rms_norm", "plain", norm, {"normalized_shape": [4], "eps": 1e-6}, x=v.values(3, 4))


def add_pooling_of_other_ranks(v):
    def of(function):
        def pool(x, size, return_indices=False, **options):
            result = function(x, size, return_indices=return_indices, **options)
            return dict(zip(("y", "indices"), result)) if return_indices else result
        return pool

    def max_pool(op, name, shape, kernel, **attrs):
        v.case(op, name, lambda x, kernel, **options: of(getattr(F, op))(x, kernel, **options),
               {"kernel": kernel, **attrs}, x=v.values(*shape))

    max_pool("max_pool1d", "plain", (2, 3, 7), [2])
    max_pool("max_pool1d", "options", (1, 2, 9), [3], stride=[2], padding=[1], dilation=[2],
             ceil_mode=True)
    max_pool("max_pool1d", "indices", (1, 2, 6), [2], stride=[1], return_indices=True)
    max_pool("max_pool1d", "unbatched", (2, 5), [2])
    max_pool("max_pool2d", "unbatched", (2, 4, 5), [2, 2])
    max_pool("max_pool3d", "plain", (1, 2, 4, 4, 2), [2, 2, 2])
    max_pool("max_pool3d", "options", (1, 1, 5, 4, 6), [2, 3, 2], stride=[2, 1, 2],
             padding=[1, 1, 0], dilation=[1, 1, 2], ceil_mode=True)
    max_pool("max_pool3d", "indices", (1, 2, 2, 3, 4), [2, 2, 2], return_indices=True)
    max_pool("max_pool3d", "unbatched", (1, 2, 2, 4), [2, 2, 2])
    for op, name, shape, size in (("adaptive_max_pool1d", "overlapping", (2, 2, 7), [3]),
                                  ("adaptive_max_pool1d", "unbatched", (2, 5), [2]),
                                  ("adaptive_max_pool2d", "one", (2, 2, 3, 4), [1, 1]),
                                  ("adaptive_max_pool2d", "overlapping", (1, 1, 5, 7), [3, 4]),
                                  ("adaptive_max_pool3d", "overlapping", (1, 2, 3, 4, 5),
                                   [2, 2, 3])):
        for indices in (False, True):
            v.case(op, name + "_indices" * indices,
                   lambda x, output_size, op=op, **options: of(getattr(F, op))(
                       x, output_size, **options),
                   {"output_size": size, **({"return_indices": True} if indices else {})},
                   x=v.values(*shape))
    for name, shape, attrs in (("plain", (1, 2, 4, 4), {"kernel": [2, 2]}),
                               ("strides", (2, 1, 5, 5), {"kernel": [3, 2], "stride": [2, 3]}),
                               ("output_size", (1, 1, 5, 4), {"kernel": [2, 2],
                                                              "output_size": [5, 4]}),
                               ("unbatched", (2, 4, 4), {"kernel": [2, 2]})):
        pooled, indices = F.max_pool2d(v.values(*shape), attrs["kernel"], attrs.get("stride"),
                                       return_indices=True)
        v.case("max_unpool2d", name,
               lambda x, indices, kernel, **options: F.max_unpool2d(x, indices, kernel, **options),
               attrs, x=pooled, indices=indices)


PARTS = (add_products, add_convolution, add_pooling, add_normalisation,
         add_channels, add_rms_norm, add_pooling_of_other_ranks)
