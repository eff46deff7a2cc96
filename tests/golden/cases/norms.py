"""Cases of normalisations that are made of other operations."""

import torch
from torch.nn import functional as F
from torch.nn.utils import parametrizations


def add_composed_normalisation(v):
    normalize = lambda x, p=2.0, dims=(1,), eps=1e-12: F.normalize(
        x, p, tuple(dims) or tuple(range(x.dim())), eps)
    for name, shape, attrs in (("rows", (3, 5), {}), ("channels", (2, 3, 2, 2), {}),
                               ("p_three", (3, 4), {"p": 3.0, "dims": [-1]}),
                               ("two_dims", (2, 3, 4), {"dims": [0, 2]}),
                               ("below_eps", (2, 3), {"eps": 100.0})):
        v.case("normalize", name, normalize, attrs, x=v.values(*shape))
    instance_norm = lambda x, weight=None, bias=None, eps=1e-5: F.instance_norm(
        x, weight=weight, bias=bias, eps=eps)
    for name, shape in (("images", (2, 3, 2, 4)), ("sequences", (2, 3, 5))):
        v.case("instance_norm", name, instance_norm, x=v.values(*shape),
               weight=v.values(shape[1]), bias=v.values(shape[1]))
    v.case("instance_norm", "plain_eps", instance_norm, {"eps": 0.1}, x=v.values(2, 2, 3))
    for name, shape, size, attrs in (("images", (2, 6, 2, 2), 5, {"alpha": 0.5}),
                                     ("even_size", (2, 5, 3), 4, {"alpha": 1.0, "k": 2.0}),
                                     ("wide", (1, 2, 3), 9, {"alpha": 2.0, "beta": 1.0}),
                                     ("defaults", (1, 4, 3), 3, {})):
        v.case("local_response_norm", name,
               lambda x, size, **options: F.local_response_norm(x, size, **options),
               {"size": size} | attrs, x=v.values(*shape))
    def standardize(x, dims=(), eps=1e-5):
        dims = tuple(dims) or tuple(range(x.dim()))
        mean, var = x.mean(dims, keepdim=True), x.var(dims, unbiased=False, keepdim=True)
        return (x - mean) / (var + eps).sqrt()
    for name, shape, attrs in (("all", (3, 4), {}), ("rows", (3, 5), {"dims": [1], "eps": 0.1}),
                               ("each_channel", (2, 3, 2, 2), {"dims": [0, 2, 3]})):
        v.case("standardize", name, standardize, attrs, x=v.values(*shape))

    def weight_norm(v, g, dim=0):
        return torch._weight_norm(v, g.reshape([-1 if i == dim % v.dim() else 1
                                                for i in range(v.dim())]), dim % v.dim())
    v.case("weight_norm", "rows", weight_norm, v=v.values(3, 4), g=v.values(3))
    v.case("weight_norm", "last", weight_norm, {"dim": -1}, v=v.values(3, 4), g=v.values(4))
    v.case("weight_norm", "kernels", weight_norm, v=v.values(3, 2, 2), g=v.values(3))


class PowerMethod(parametrizations._SpectralNorm):
    """PyTorch's, with given vectors and without the steps that it begins with."""

    def __init__(self, u, v, dim, iterations, eps, training):
        torch.nn.Module.__init__(self)
        self.dim, self.n_power_iterations, self.eps, self.training = dim, iterations, eps, training
        self._u, self._v = u.detach().clone(), v.detach().clone()


def add_spectral_norm(v):
    def spectral_norm(w, u, v, dim=0, iterations=1, eps=1e-12, training=True):
        method = PowerMethod(u, v, dim, iterations, eps, training)
        return {"y": method(w), "u": method._u, "v": method._v}

    for name, shape, rows, attrs in (
            ("rows", (3, 5), 3, {}), ("steps", (3, 2, 2), 3, {"iterations": 4}),
            ("columns", (3, 5), 5, {"dim": 1}), ("evaluation", (3, 5), 3, {"training": False})):
        w = v.values(*shape)
        v.case("spectral_norm", name, spectral_norm, attrs, ["w"], w=w, u=v.values(rows),
               v=v.values(w.numel() // rows))


PARTS = (add_composed_normalisation, add_spectral_norm)
