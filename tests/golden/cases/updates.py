"""Optimizer trajectories and gradient clipping."""

import torch

SGD = {
    "plain": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "dampening": {"lr": 0.1, "momentum": 0.9, "dampening": 0.5},
    "weight_decay": {"lr": 0.1, "weight_decay": 0.05},
    "momentum_weight_decay": {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.05},
    "nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "nesterov_weight_decay": {"lr": 0.05, "momentum": 0.7, "weight_decay": 0.1, "nesterov": True},
}
ADAM = {
    "default": {"lr": 0.001},
    "large_lr": {"lr": 0.1},
    "betas": {"lr": 0.05, "beta1": 0.8, "beta2": 0.95},
    "eps": {"lr": 0.05, "eps": 0.01},
    "weight_decay": {"lr": 0.05, "weight_decay": 0.1},
    "amsgrad": {"lr": 0.05, "beta2": 0.8, "amsgrad": True},
    "amsgrad_weight_decay": {"lr": 0.05, "beta2": 0.8, "weight_decay": 0.1, "amsgrad": True},
}
RMSPROP = {
    "default": {"lr": 0.01},
    "alpha": {"lr": 0.05, "alpha": 0.8},
    "eps": {"lr": 0.05, "alpha": 0.9, "eps": 0.1},
    "weight_decay": {"lr": 0.05, "weight_decay": 0.1},
    "momentum": {"lr": 0.05, "alpha": 0.9, "momentum": 0.7},
    "centered": {"lr": 0.05, "alpha": 0.9, "centered": True},
    "all": {"lr": 0.05, "alpha": 0.9, "weight_decay": 0.1, "momentum": 0.5, "centered": True},
}


def torch_options(options):
    """Firn's beta1 and beta2 are torch's pair of betas."""
    options = dict(options)
    if "beta1" in options or "beta2" in options:
        options["betas"] = (options.pop("beta1", 0.9), options.pop("beta2", 0.999))
    return options


def start(kind, param, options):
    parameter = torch.nn.Parameter(param.detach().clone())
    return parameter, kind([parameter], **torch_options(options))


def trajectory(kind):
    """The parameter after each of the given gradients."""
    def run(param, grad, **options):
        parameter, optimizer = start(kind, param, options)
        path = {}
        for step, gradient in enumerate(grad):
            parameter.grad = gradient.detach().clone()
            optimizer.step()
            path[f"param.{step}"] = parameter.detach().clone()
        return path
    return run


def add_trajectories(v):
    kinds = {"sgd": (torch.optim.SGD, SGD), "adam": (torch.optim.Adam, ADAM),
             "adamw": (torch.optim.AdamW, {name: {"weight_decay": 0.01, **options}
                                           for name, options in ADAM.items()}),
             "rmsprop": (torch.optim.RMSprop, RMSPROP)}
    for op, (kind, variants) in kinds.items():
        for name, options in variants.items():
            gradients = [v.values(5) for _ in range(10)]
            gradients[3][1] = 0.0
            v.case(op, name, trajectory(kind), options, [], param=v.values(5), grad=gradients)


def add_clipping(v):
    def clip(grads, max_norm, p=2.0):
        parameters = [torch.nn.Parameter(torch.zeros_like(grad)) for grad in grads]
        for parameter, grad in zip(parameters, grads):
            parameter.grad = grad.detach().clone()
        total = torch.nn.utils.clip_grad_norm_(parameters, max_norm, p)
        return {"total_norm": total, **{f"grads.{i}": p.grad for i, p in enumerate(parameters)}}

    for name, attrs in {"shrinks": {"max_norm": 0.5}, "leaves_small_alone": {"max_norm": 100.0},
                        "p_one": {"max_norm": 1.0, "p": 1.0},
                        "p_infinity": {"max_norm": 0.25, "p": float("inf")}}.items():
        v.case("clip_grad_norm", name, clip, attrs, [], grads=[v.values(3), v.values(2, 2)])
    v.case("clip_grad_norm", "zero_gradients", clip, {"max_norm": 1.0}, [],
           grads=[torch.zeros(3), torch.zeros(1)])


def add_value_clipping(v):
    def clip(grads, limit):
        return {f"grads.{i}": grad.detach().clamp(-limit, limit) for i, grad in enumerate(grads)}

    for name, limit in {"cuts": 0.5, "leaves_small_alone": 100.0}.items():
        v.case("clip_grad_value", name, clip, {"limit": limit}, [],
               grads=[v.values(3), v.values(2, 2)])


STEPS = (add_clipping, add_value_clipping)
TRAJECTORIES = (add_trajectories,)
