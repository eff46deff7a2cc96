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
ADAGRAD = {
    "default": {"lr": 0.01},
    "all": {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.5,
            "eps": 0.01},
}
ADADELTA = {
    "default": {"lr": 1.0},
    "all": {"lr": 0.5, "rho": 0.7, "eps": 0.01, "weight_decay": 0.1},
}
ADAMAX = {
    "default": {"lr": 0.002},
    "all": {"lr": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 0.01, "weight_decay": 0.1},
}
NADAM = {
    "default": {"lr": 0.002},
    "all": {"lr": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 0.01, "weight_decay": 0.1,
            "momentum_decay": 0.05},
    "decoupled": {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True},
    "momentum_stays": {"lr": 0.05, "momentum_decay": 0.0},
}
RADAM = {
    "default": {"lr": 0.001},
    "all": {"lr": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 0.01, "weight_decay": 0.1},
    "decoupled": {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True},
}
RPROP = {
    "default": {"lr": 0.01},
    "all": {"lr": 0.1, "eta_minus": 0.4, "eta_plus": 1.5, "min_step": 0.05, "max_step": 0.3},
}
ADAFACTOR = {
    "default": {"lr": 0.01},
    "all": {"lr": 0.5, "beta2_decay": -0.5, "eps1": 0.01, "eps2": 0.1, "d": 1.25,
            "weight_decay": 0.1},
}
MUON = {
    "default": {},
    "all": {"lr": 0.05, "weight_decay": 0.2, "momentum": 0.8, "nesterov": False, "ns_steps": 3,
            "eps": 0.01},
    "as_long_as_adamw": {"lr": 0.05, "scale": "match_rms_adamw"},
}
# torch's tuples, by Firn's names.
PAIRS = {"betas": ("beta1", 0.9, "beta2", 0.999), "etas": ("eta_minus", 0.5, "eta_plus", 1.2),
         "step_sizes": ("min_step", 1e-6, "max_step", 50)}


def torch_options(options):
    """Firn's beta1 and beta2 are torch's pair of betas, and so on."""
    options = dict(options)
    for name, (first, otherwise, second, or_else) in PAIRS.items():
        if first in options or second in options:
            options[name] = (options.pop(first, otherwise), options.pop(second, or_else))
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


def adafactor(parameters, eps1=None, eps2=1e-3, **options):
    # Firn's tests compute in f32, so the epsilon of f32 is the default.
    eps1 = torch.finfo(torch.float32).eps if eps1 is None else eps1
    return torch.optim.Adafactor(parameters, eps=(eps1, eps2), **options)


def muon(param, grad, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, eps=1e-7,
         ns_steps=5, scale="original"):
    """torch.optim.Muon's step, whose iteration runs in bf16, in the parameter's dtype."""
    x, velocity, path = param.detach().clone(), torch.zeros_like(param), {}
    rows, columns = x.shape
    as_long_as_adamw = scale == "match_rms_adamw"
    length = 0.2 * max(rows, columns) ** 0.5 if as_long_as_adamw else max(1, rows / columns) ** 0.5
    for step, g in enumerate(grad):
        velocity.lerp_(g, 1 - momentum)
        update = g.lerp(velocity, momentum) if nesterov else velocity
        u = update / update.norm().clamp(min=eps)
        for _ in range(ns_steps):
            gram = u @ u.T
            u = 3.4445 * u + (-4.775 * gram + 2.0315 * gram @ gram) @ u
        x = x * (1 - lr * weight_decay) - lr * length * u
        path[f"param.{step}"] = x.clone()
    return path


def add_trajectories(v):
    kinds = {"sgd": (torch.optim.SGD, SGD), "adam": (torch.optim.Adam, ADAM),
             "adamw": (torch.optim.AdamW, {name: {"weight_decay": 0.01, **options}
                                           for name, options in ADAM.items()}),
             "rmsprop": (torch.optim.RMSprop, RMSPROP), "adagrad": (torch.optim.Adagrad, ADAGRAD),
             "adadelta": (torch.optim.Adadelta, ADADELTA), "adamax": (torch.optim.Adamax, ADAMAX),
             "nadam": (torch.optim.NAdam, NADAM), "radam": (torch.optim.RAdam, RADAM),
             "rprop": (torch.optim.Rprop, RPROP)}
    for op, (kind, variants) in kinds.items():
        for name, options in variants.items():
            gradients = [v.values(5) for _ in range(10)]
            gradients[3][1] = 0.0
            v.case(op, name, trajectory(kind), options, [], param=v.values(5), grad=gradients)
    for name, options in ADAFACTOR.items():
        for shape in ((5,), (4, 3), (2, 3, 4)):
            v.case("adafactor", f"{name}_{len(shape)}d", trajectory(adafactor), options, [],
                   param=v.values(*shape), grad=[v.values(*shape) for _ in range(5)])
    for name, options in MUON.items():
        for shape in ((4, 4), (3, 5), (5, 2)):
            v.case("muon", f"{name}_{shape[0]}x{shape[1]}", muon, options, [],
                   param=v.values(*shape), grad=[v.values(*shape) for _ in range(5)])


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
