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


def add_batch_norm(v):
    """Three training steps, then one evaluating step on the first input (the last output)."""
    def run(x, kind, channels, weight=None, bias=None, track_running_stats=True, **attrs):
        layer = kind(channels, track_running_stats=track_running_stats, **attrs).double()
        outputs = {}
        for step, batch in enumerate([*x, x[0]]):
            layer.train(step < len(x))
            outputs[f"y.{step}"] = torch.func.functional_call(
                layer, given(weight=weight, bias=bias), (batch,))
        if track_running_stats:
            outputs |= {"running_mean": layer.running_mean, "running_var": layer.running_var}
        return outputs

    for op, kind, shape in (("batch_norm1d", nn.BatchNorm1d, (4, 2)),
                            ("batch_norm2d", nn.BatchNorm2d, (3, 2, 2, 2)),
                            ("batch_norm3d", nn.BatchNorm3d, (2, 2, 1, 2, 2))):
        for name, affine, attrs in (("default", True, {}), ("plain", False, {"affine": False}),
                                    ("options", True, {"momentum": 0.3, "eps": 0.01}),
                                    ("no_running_stats", True, {"track_running_stats": False})):
            extra = {"weight": v.values(2), "bias": v.values(2)} if affine else {}
            v.case(op, name, lambda x, k=kind, **rest: run(x, k, **rest),
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


PARTS = (add_stateless, add_with_parameters, add_batch_norm, add_losses)
