"""Layers of nn: options in, state dict in, output out. What a layer adds to its operation.

Inputs are x and then the layer's state dict by name; several steps of a layer with state are
x.0, x.1, ... with outputs y.0, y.1, ... Buffers come back as outputs under their own names.
"""

import torch
from torch import nn


def run_layer(make, **fixed):
    """A case function: builds the layer, loads the given parameters, runs it on x."""
    def run(x, **rest):
        state = {key: value for key, value in rest.items() if isinstance(value, torch.Tensor)}
        options = {key: value for key, value in rest.items() if key not in state}
        layer = make(**{**options, **fixed}).double()
        return torch.func.functional_call(layer, state, (x,))
    return run


def add_stateless(v):
    image = v.values(1, 2, 4, 4)
    for op, make, attrs in (
            ("relu", nn.ReLU, {}), ("sigmoid", nn.Sigmoid, {}), ("tanh", nn.Tanh, {}),
            ("identity", nn.Identity, {}), ("flatten", nn.Flatten, {}),
            ("softmax", nn.Softmax, {"dim": 1}), ("log_softmax", nn.LogSoftmax, {"dim": 1})):
        v.case(op, "default", run_layer(make), attrs, x=image)
    v.case("flatten", "all_dims", run_layer(nn.Flatten), {"start_dim": 0}, x=v.values(2, 3))
    v.case("leaky_relu", "default", run_layer(nn.LeakyReLU), x=image)
    v.case("leaky_relu", "alpha", lambda x, alpha: nn.LeakyReLU(alpha)(x), {"alpha": 0.2}, x=image)
    for op, make in (("max_pool2d", nn.MaxPool2d), ("avg_pool2d", nn.AvgPool2d)):
        v.case(op, "default_stride_is_kernel", lambda x, kernel, f=make: f(kernel)(x),
               {"kernel": [2, 2]}, x=image)
        v.case(op, "options", lambda x, kernel, stride, padding, f=make: f(
            kernel, stride, padding)(x), {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1]},
               x=image)
    v.case("adaptive_avg_pool2d", "default", run_layer(nn.AdaptiveAvgPool2d),
           {"output_size": [2, 2]}, x=image)
    v.case("dropout", "evaluating_is_identity", lambda x, p, training: nn.Dropout(p).eval()(x),
           {"p": 0.5, "training": False}, x=image)
    v.case("dropout", "p_zero", lambda x, p: nn.Dropout(p)(x), {"p": 0.0}, x=v.values(3))
    v.case("dropout", "p_one", lambda x, p: nn.Dropout(p)(x), {"p": 1.0}, x=v.values(3))


def add_with_parameters(v):
    """Attributes in, out, kernel, ... are the options' names in Firn."""
    def linear(x, weight, bias=None, **attrs):
        parameters = given(weight=weight, bias=bias)
        layer = nn.Linear(attrs["in"], attrs["out"], bias="bias" in parameters).double()
        return torch.func.functional_call(layer, parameters, (x,))

    v.case("linear", "with_bias", linear, {"in": 3, "out": 4}, x=v.values(2, 3),
           weight=v.values(4, 3), bias=v.values(4))
    v.case("linear", "without_bias", linear, {"in": 3, "out": 2, "bias": False}, x=v.values(2, 3),
           weight=v.values(2, 3))

    def conv(x, weight, bias=None, **attrs):
        parameters = given(weight=weight, bias=bias)
        layer = nn.Conv2d(attrs["in"], attrs["out"], attrs["kernel"], attrs.get("stride", 1),
                          attrs.get("padding", 0), groups=attrs.get("groups", 1),
                          bias="bias" in parameters,
                          padding_mode=attrs.get("padding_mode", "zeros")).double()
        return torch.func.functional_call(layer, parameters, (x,))

    base = {"in": 2, "out": 2, "kernel": [3, 3], "padding": [1, 1]}
    for name, extra in (("zeros", {}), ("stride", {"stride": [2, 2]}), ("groups", {"groups": 2}),
                        ("reflect", {"padding_mode": "reflect"}),
                        ("replicate", {"padding_mode": "replicate"}),
                        ("circular", {"padding_mode": "circular"})):
        channels = 2 // extra.get("groups", 1)
        v.case("conv2d", name, conv, {**base, **extra}, x=v.values(1, 2, 4, 4),
               weight=v.values(2, channels, 3, 3), bias=v.values(2))
    v.case("conv2d", "without_bias", conv, {**base, "bias": False}, x=v.values(1, 2, 4, 4),
           weight=v.values(2, 2, 3, 3))

    def embedding(x, weight, count, size, padding_idx=None):
        layer = nn.Embedding(count, size, padding_idx).double()
        return torch.func.functional_call(layer, {"weight": weight}, (x,))

    for name, extra in (("default", {}), ("padding", {"padding_idx": 0})):
        v.case("embedding", name, embedding, {"count": 4, "size": 3, **extra},
               x=v.integers(2, 3, high=4), weight=v.values(4, 3))


def given(**values):
    """The parameters that are tensors: one left out is None, or False as an option."""
    return {key: value for key, value in values.items() if isinstance(value, torch.Tensor)}


def run_steps(x, kind, channels, weight=None, bias=None, **attrs):
    """Training steps, then one evaluating step on the first input (the last output)."""
    layer = kind(channels, **attrs).double()
    outputs = {}
    for step, batch in enumerate([*x, x[0]]):
        layer.train(step < len(x))
        outputs[f"y.{step}"] = torch.func.functional_call(
            layer, given(weight=weight, bias=bias), (batch,))
    if layer.track_running_stats:
        outputs |= {"running_mean": layer.running_mean, "running_var": layer.running_var}
    return outputs


def add_batch_norm(v):
    for op, kind, shape in (("batch_norm1d", nn.BatchNorm1d, (4, 2)),
                            ("batch_norm2d", nn.BatchNorm2d, (3, 2, 2, 2)),
                            ("batch_norm3d", nn.BatchNorm3d, (2, 2, 1, 2, 2))):
        for name, affine, attrs in (("default", True, {}), ("plain", False, {"affine": False}),
                                    ("options", True, {"momentum": 0.3, "eps": 0.01}),
                                    ("no_running_stats", True, {"track_running_stats": False})):
            extra = {"weight": v.values(2), "bias": v.values(2)} if affine else {}
            v.case(op, name, lambda x, k=kind, **rest: run_steps(x, k, **rest),
                   {"channels": 2, **attrs}, x=[v.values(*shape) for _ in range(3)], **extra)


def add_losses(v):
    logits, target = v.values(4, 3), v.integers(4, high=3)
    for op, make, inputs in (
            ("cross_entropy_loss", nn.CrossEntropyLoss, (logits, target)),
            ("nll_loss", nn.NLLLoss, (torch.log_softmax(logits, 1), target)),
            ("mse_loss", nn.MSELoss, (logits, v.values(4, 3)))):
        v.case(op, "default", lambda x, target, f=make: f()(x, target), None, ["x"], x=inputs[0],
               target=inputs[1])
        v.case(op, "sum", lambda x, target, reduction, f=make: f(reduction=reduction)(x, target),
               {"reduction": "sum"}, ["x"], x=inputs[0], target=inputs[1])
    v.case("cross_entropy_loss", "smoothing",
           lambda x, target, label_smoothing: nn.CrossEntropyLoss(
               label_smoothing=label_smoothing)(x, target), {"label_smoothing": 0.1}, ["x"],
           x=logits, target=target)


def add_activations(v):
    x = v.values(2, 3, 4, scale=8.0)
    for op, make, variants in (
            ("silu", nn.SiLU, {"default": {}}), ("selu", nn.SELU, {"default": {}}),
            ("elu", nn.ELU, {"default": {}, "alpha": {"alpha": 0.5}}),
            ("gelu", nn.GELU, {"default": {}, "tanh": {"approximate": "tanh"}}),
            ("softplus", nn.Softplus, {"default": {}, "options": {"beta": 2.0, "threshold": 3.0}}),
            ("softmin", nn.Softmin, {"rows": {"dim": -1}, "channels": {"dim": 1}})):
        for name, attrs in variants.items():
            v.case(op, name, run_layer(make), attrs, x=x)
    v.case("hardtanh", "default", run_layer(nn.Hardtanh), x=x)
    v.case("hardtanh", "bounds", lambda x, min, max: nn.Hardtanh(min, max)(x),
           {"min": -2.5, "max": 0.5}, x=x)


def add_more_convolutions(v):
    def run(kind):
        def call(x, weight, bias=None, kernel=1, **attrs):
            parameters = given(weight=weight, bias=bias)
            sizes = attrs.pop("in"), attrs.pop("out")
            layer = kind(*sizes, kernel, **{**attrs, "bias": "bias" in parameters}).double()
            return torch.func.functional_call(layer, parameters, (x,))
        return call

    line = {"in": 4, "out": 2, "kernel": 3}
    for name, attrs in (("default", {}), ("stride_padding", {"stride": 2, "padding": 1}),
                        ("dilation_groups", {"dilation": 2, "groups": 2}),
                        ("reflect", {"padding": 2, "padding_mode": "reflect"}),
                        ("replicate", {"padding": 2, "padding_mode": "replicate"}),
                        ("circular", {"padding": 1, "padding_mode": "circular"})):
        v.case("conv1d", name, run(nn.Conv1d), {**line, **attrs}, x=v.values(2, 4, 6),
               weight=v.values(2, 4 // attrs.get("groups", 1), 3), bias=v.values(2))
    v.case("conv1d", "without_bias", run(nn.Conv1d), {**line, "bias": False}, x=v.values(1, 4, 5),
           weight=v.values(2, 4, 3))
    image = {"in": 4, "out": 2, "kernel": [3, 2]}
    for name, attrs in (("default", {}), ("stride_padding", {"stride": [2, 1], "padding": [1, 0]}),
                        ("output_padding", {"stride": [2, 2], "output_padding": [1, 0]}),
                        ("dilation_groups", {"dilation": [1, 2], "groups": 2})):
        v.case("conv_transpose2d", name, run(nn.ConvTranspose2d), {**image, **attrs},
               x=v.values(1, 4, 3, 3), weight=v.values(4, 2 // attrs.get("groups", 1), 3, 2),
               bias=v.values(2))
    v.case("conv_transpose2d", "without_bias", run(nn.ConvTranspose2d), {**image, "bias": False},
           x=v.values(1, 4, 2, 2), weight=v.values(4, 2, 3, 2))
    volume = {"in": 4, "out": 2, "kernel": [2, 3, 1]}
    for name, attrs in (("default", {}),
                        ("options", {"stride": [1, 2, 2], "padding": [1, 0, 1], "groups": 2}),
                        ("replicate", {"padding": [1, 1, 0], "padding_mode": "replicate"})):
        v.case("conv3d", name, run(nn.Conv3d), {**volume, **attrs}, x=v.values(1, 4, 3, 4, 3),
               weight=v.values(2, 4 // attrs.get("groups", 1), 2, 3, 1), bias=v.values(2))
    v.case("conv3d", "unbatched", run(nn.Conv3d), volume, x=v.values(4, 2, 3, 2),
           weight=v.values(2, 4, 2, 3, 1), bias=v.values(2))
    v.case("conv1d", "unbatched", run(nn.Conv1d), line, x=v.values(4, 5), weight=v.values(2, 4, 3),
           bias=v.values(2))
    for name, attrs in (("default", {}), ("options", {"stride": 2, "padding": 1, "groups": 2,
                                                      "output_padding": 1})):
        v.case("conv_transpose1d", name, run(nn.ConvTranspose1d), {**line, **attrs},
               x=v.values(1, 4, 4), weight=v.values(4, 2 // attrs.get("groups", 1), 3),
               bias=v.values(2))
        v.case("conv_transpose3d", name, run(nn.ConvTranspose3d), {**volume, **attrs},
               x=v.values(1, 4, 2, 2, 2), weight=v.values(4, 2 // attrs.get("groups", 1), 2, 3, 1),
               bias=v.values(2))


def add_norms(v):
    def layer_norm(x, shape, weight=None, bias=None, eps=1e-5, affine=True):
        parameters = given(weight=weight, bias=bias)
        layer = nn.LayerNorm(tuple(shape), eps, affine, bias="bias" in parameters).double()
        return torch.func.functional_call(layer, parameters, (x,))

    def group_norm(x, groups, channels, weight=None, bias=None, eps=1e-5, affine=True):
        layer = nn.GroupNorm(groups, channels, eps, affine).double()
        return torch.func.functional_call(layer, given(weight=weight, bias=bias), (x,))

    v.case("layer_norm", "default", layer_norm, {"shape": [4]}, x=v.values(2, 3, 4),
           weight=v.values(4), bias=v.values(4))
    v.case("layer_norm", "two_dims_eps", layer_norm, {"shape": [3, 4], "eps": 0.1},
           x=v.values(2, 3, 4), weight=v.values(3, 4), bias=v.values(3, 4))
    v.case("layer_norm", "without_bias", layer_norm, {"shape": [4], "bias": False},
           x=v.values(3, 4), weight=v.values(4))
    v.case("layer_norm", "plain", layer_norm, {"shape": [4], "affine": False}, x=v.values(3, 4))
    for name, groups, attrs in (("two_groups", 2, {}), ("each_channel", 4, {}),
                                ("eps", 1, {"eps": 0.1})):
        v.case("group_norm", name, group_norm, {"groups": groups, "channels": 4, **attrs},
               x=v.values(2, 4, 2, 3), weight=v.values(4), bias=v.values(4))
    v.case("group_norm", "plain", group_norm, {"groups": 2, "channels": 4, "affine": False},
           x=v.values(3, 4, 2))


def add_more_losses(v):
    def run(kind):
        return lambda x, target, **options: kind(**options)(x, target)

    def with_weights(kind):
        def call(x, target, **options):
            given_weights = {key: value.double() for key, value in given(**options).items()}
            return kind(**{**options, **given_weights}).double()(x, target)
        return call

    def each(op, kind, x, target, reductions=("none", "sum"), **attrs):
        v.case(op, "default", run(kind), attrs, ["x"], x=x, target=target)
        for reduction in reductions:
            v.case(op, reduction, run(kind), {**attrs, "reduction": reduction}, ["x"], x=x,
                   target=target)

    x, y = v.values(4, 3), v.values(4, 3)
    for op, kind in (("l1_loss", nn.L1Loss), ("smooth_l1_loss", nn.SmoothL1Loss),
                     ("huber_loss", nn.HuberLoss)):
        each(op, kind, x, y)
    v.case("smooth_l1_loss", "beta", run(nn.SmoothL1Loss), {"beta": 0.5}, ["x"], x=x, target=y)
    v.case("huber_loss", "delta", run(nn.HuberLoss), {"delta": 0.5}, ["x"], x=x, target=y)
    v.case("mse_loss", "none", run(nn.MSELoss), {"reduction": "none"}, ["x"], x=x, target=y)

    p, labels = v.positive(4, 3, low=0.05, high=0.95), v.mask(4, 3).float()
    each("bce_loss", nn.BCELoss, p, labels)
    each("bce_with_logits_loss", nn.BCEWithLogitsLoss, x, labels)
    v.case("bce_loss", "weight", with_weights(nn.BCELoss), None, ["x"], x=p, target=labels,
           weight=v.positive(3))
    v.case("bce_with_logits_loss", "weight", with_weights(nn.BCEWithLogitsLoss), None, ["x"], x=x,
           target=labels, weight=v.positive(3))
    v.case("bce_with_logits_loss", "pos_weight", with_weights(nn.BCEWithLogitsLoss), None, ["x"],
           x=x, target=labels, pos_weight=v.positive(3))

    log_q, q = torch.log_softmax(x, 1), torch.softmax(y, 1)
    each("kl_div_loss", nn.KLDivLoss, log_q, q, ("none", "sum", "batchmean"))
    v.case("kl_div_loss", "log_target", run(nn.KLDivLoss),
           {"reduction": "batchmean", "log_target": True}, ["x"], x=log_q, target=q.log())

    classes, ignored = v.integers(4, high=3), torch.tensor([1, -100, 0, 2])
    for op, kind, scores in (("cross_entropy_loss", nn.CrossEntropyLoss, x),
                             ("nll_loss", nn.NLLLoss, log_q)):
        v.case(op, "none", run(kind), {"reduction": "none"}, ["x"], x=scores, target=classes)
        v.case(op, "weight", with_weights(kind), None, ["x"], x=scores, target=ignored,
               weight=v.positive(3))
        v.case(op, "ignore_index", run(kind), {"ignore_index": 1}, ["x"], x=scores,
               target=classes)


def add_window_options(v):
    """The options of sliding windows that the cases above leave at their defaults."""
    image = v.values(1, 2, 6, 6)

    def conv(x, weight, bias, dilation, **sizes):
        layer = nn.Conv2d(sizes["in"], sizes["out"], sizes["kernel"], dilation=dilation).double()
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))

    v.case("conv2d", "dilation", conv,
           {"in": 2, "out": 2, "kernel": [3, 3], "dilation": [2, 1]}, x=image,
           weight=v.values(2, 2, 3, 3), bias=v.values(2))
    v.case("max_pool2d", "dilation_and_ceil_mode",
           lambda x, kernel, stride, dilation, ceil_mode: nn.MaxPool2d(
               kernel, stride, dilation=dilation, ceil_mode=ceil_mode)(x),
           {"kernel": [2, 2], "stride": [3, 3], "dilation": [2, 2], "ceil_mode": True}, x=image)
    v.case("avg_pool2d", "without_padding_and_ceil_mode",
           lambda x, kernel, stride, padding, ceil_mode, count_include_pad: nn.AvgPool2d(
               kernel, stride, padding, ceil_mode, count_include_pad)(x),
           {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "ceil_mode": True,
            "count_include_pad": False}, x=image)


def add_more_activations(v):
    x = v.values(2, 4, 3, scale=8.0)
    for op, make, variants in (
            ("log_sigmoid", nn.LogSigmoid, {}), ("mish", nn.Mish, {}),
            ("softsign", nn.Softsign, {}), ("hardsigmoid", nn.Hardsigmoid, {}),
            ("hardswish", nn.Hardswish, {}), ("tanhshrink", nn.Tanhshrink, {}),
            ("relu6", nn.ReLU6, {}), ("celu", nn.CELU, {"alpha": {"alpha": 2.0}}),
            ("glu", nn.GLU, {"channels": {"dim": 1}})):
        if op != "glu":
            v.case(op, "default", run_layer(make), x=x)
        for name, attrs in variants.items():
            v.case(op, name, run_layer(make), attrs, x=x)
    v.case("glu", "default", run_layer(nn.GLU), x=v.values(3, 4))
    for op, make in (("hardshrink", nn.Hardshrink), ("softshrink", nn.Softshrink)):
        v.case(op, "default", run_layer(make), x=x)
        v.case(op, "lambda", lambda x, f=make, **a: f(a["lambda"])(x), {"lambda": 1.5}, x=x)
    v.case("threshold", "options", run_layer(nn.Threshold), {"threshold": 0.5, "value": -20.0}, x=x)

    def prelu(x, weight, count=1):
        return torch.func.functional_call(nn.PReLU(count).double(), {"weight": weight}, (x,))

    v.case("prelu", "default", prelu, x=x, weight=v.values(1))
    v.case("prelu", "channels", prelu, {"count": 4}, x=x, weight=v.values(4))

    def rms_norm(x, shape, weight=None, eps=None, affine=True):
        layer = nn.RMSNorm(tuple(shape), eps, affine).double()
        return torch.func.functional_call(layer, given(weight=weight), (x,))

    v.case("rms_norm", "default", rms_norm, {"shape": [4], "eps": 1e-5}, x=v.values(2, 3, 4),
           weight=v.values(4))
    v.case("rms_norm", "two_dims", rms_norm, {"shape": [3, 4], "eps": 0.1}, x=v.values(2, 3, 4),
           weight=v.values(3, 4))
    v.case("rms_norm", "plain", rms_norm, {"shape": [4], "eps": 1e-5, "affine": False},
           x=v.values(3, 4))


def add_padding(v):
    sides = {1: [2, 1], 2: [1, 2, 0, 1], 3: [1, 0, 1, 1, 0, 1]}
    for dims in (1, 2, 3):
        x = v.values(1, 2, *(3, 4, 3)[:dims])
        for kind in ("Constant", "Zero", "Reflection", "Replication", "Circular"):
            make = getattr(nn, f"{kind}Pad{dims}d")
            extra = {"value": 1.5} if kind == "Constant" else {}
            for name, padding in (("all_sides", [1]), ("each_side", sides[dims])):
                def run(x, padding, f=make, **rest):
                    return f(padding[0] if len(padding) == 1 else tuple(padding), *rest.values())(x)

                v.case(f"{kind.lower()}_pad{dims}d", name, run, {"padding": padding, **extra}, x=x)


def add_pooling_layers(v):
    def run(kind):
        def call(x, kernel=None, p=None, output_size=None, **options):
            given = [a for a in (p, output_size, kernel) if a is not None]
            return kind(*given, **options)(x)
        return call

    def case(op, kind, name, shape, **attrs):
        v.case(op, name, run(kind), attrs, x=v.values(*shape))

    case("max_pool1d", nn.MaxPool1d, "default", (2, 2, 5), kernel=2)
    case("max_pool1d", nn.MaxPool1d, "options", (2, 8), kernel=3, stride=2, padding=1, dilation=2,
         ceil_mode=True)
    case("max_pool3d", nn.MaxPool3d, "default", (1, 2, 4, 4, 3), kernel=2)
    case("max_pool3d", nn.MaxPool3d, "options", (1, 5, 6, 7), kernel=[2, 3, 2], stride=[2, 1, 3],
         padding=[1, 1, 0], dilation=[1, 2, 2], ceil_mode=True)
    case("avg_pool1d", nn.AvgPool1d, "default", (2, 2, 5), kernel=2)
    case("avg_pool1d", nn.AvgPool1d, "options", (2, 8), kernel=3, stride=2, padding=1,
         ceil_mode=True, count_include_pad=False)
    case("avg_pool3d", nn.AvgPool3d, "default", (1, 2, 4, 4, 3), kernel=2)
    case("avg_pool3d", nn.AvgPool3d, "options", (1, 5, 6, 7), kernel=[2, 3, 2], stride=[2, 1, 3],
         padding=[1, 1, 0], ceil_mode=True, count_include_pad=False)
    case("avg_pool3d", nn.AvgPool3d, "divisor", (1, 2, 4, 4), kernel=2, divisor_override=3)
    case("lp_pool1d", nn.LPPool1d, "default", (2, 2, 6), p=2.0, kernel=3)
    case("lp_pool2d", nn.LPPool2d, "default", (1, 2, 4, 5), p=2.0, kernel=[2, 3])
    case("lp_pool2d", nn.LPPool2d, "options", (2, 5, 5), p=4.0, kernel=[2, 2], stride=[1, 2],
         ceil_mode=True)
    for pool, image, size in (("1d", (2, 2, 7), 3), ("2d", (1, 2, 5, 7), [3, 4]),
                              ("3d", (1, 2, 3, 5, 4), [2, 3, 4])):
        for kind in ("Avg", "Max"):
            name = "adaptive_" + kind.lower() + "_pool" + pool
            layer = getattr(nn, "Adaptive" + kind + "Pool" + pool)
            case(name, layer, "to_a_size", image, output_size=size)
            case(name, layer, "unbatched", image[1:], output_size=1)

    case("unfold", nn.Unfold, "default", (1, 2, 3, 4), kernel=[2, 3])
    case("unfold", nn.Unfold, "options", (1, 7, 5), kernel=[3, 2], dilation=[2, 1], padding=[1, 2],
         stride=[1, 2])
    case("fold", nn.Fold, "default", (1, 12, 4), output_size=[3, 4], kernel=[2, 3])
    case("fold", nn.Fold, "options", (6, 20), output_size=[7, 5], kernel=[3, 2], dilation=[2, 1],
         padding=[1, 2], stride=[1, 2])

    def unpool(x, target, kernel, **options):
        return nn.MaxUnpool2d(kernel, **options)(x, target)

    for name, shape, attrs in (("default", (1, 2, 4, 6), {"kernel": [2, 2]}),
                               ("options", (2, 4, 4), {"kernel": [3, 3], "stride": [3, 3],
                                                       "padding": [1, 1]})):
        pooled = dict(attrs)
        _, indices = nn.MaxPool2d(pooled.pop("kernel"), return_indices=True, **pooled)(
            v.values(*shape))
        v.case("max_unpool2d", name, unpool, attrs, ["x"], x=v.values(*indices.shape),
               target=indices)


PARTS = (add_stateless, add_with_parameters, add_batch_norm, add_losses, add_activations,
         add_more_convolutions, add_norms, add_more_losses, add_window_options,
         add_more_activations, add_padding, add_pooling_layers)
