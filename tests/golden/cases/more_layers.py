"""Normalisations with options of their own, dropouts, tables and views as layers."""

import torch
from torch import nn

from .layer_classes import given, run_steps


def add_norms(v):
    def steps(op, name, kind, shape, **attrs):
        inputs = {"weight": v.values(2), "bias": v.values(2)} if attrs.get("affine", False) else {}
        v.case(op, name, lambda x, **rest: run_steps(x, kind, **rest), {"channels": 2, **attrs},
               x=[v.values(*shape) for _ in range(3)], **inputs)

    for op, kind, shape in (("instance_norm1d", nn.InstanceNorm1d, (3, 2, 4)),
                            ("instance_norm2d", nn.InstanceNorm2d, (2, 2, 2, 3)),
                            ("instance_norm3d", nn.InstanceNorm3d, (2, 2, 2, 1, 2))):
        steps(op, "default", kind, shape)
        steps(op, "affine", kind, shape, affine=True, eps=0.01)
        steps(op, "running_stats", kind, shape, affine=True, track_running_stats=True)
        steps(op, "momentum", kind, shape, track_running_stats=True, momentum=0.3)
        steps(op, "unbatched", kind, shape[1:], track_running_stats=True)

    def counted(x, channels, **attrs):
        layer = nn.InstanceNorm1d(channels, **attrs).double()
        return {"y": layer(x), "num_batches_tracked": layer.num_batches_tracked}

    v.case("instance_norm1d", "batches_are_not_counted", counted,
           {"channels": 2, "track_running_stats": True}, x=v.values(2, 2, 3))

    # One process: PyTorch then calls batch_norm.
    for name, shape, attrs in (("matrix", (4, 2), {}), ("images", (3, 2, 2, 2), {"momentum": 0.3}),
                               ("volumes", (2, 2, 1, 2, 2), {"eps": 0.01})):
        steps("sync_batch_norm", name, nn.SyncBatchNorm, shape, affine=True, **attrs)
    steps("sync_batch_norm", "no_running_stats", nn.SyncBatchNorm, (4, 2, 3), affine=False,
          track_running_stats=False)

    for name, shape, attrs in (("default", (2, 5, 3), {"size": 3}),
                               ("options", (1, 6, 2, 2),
                                {"size": 4, "alpha": 0.5, "beta": 0.5, "k": 2.0})):
        v.case("local_response_norm", name, lambda x, **a: nn.LocalResponseNorm(**a)(x), attrs,
               x=v.values(*shape))


def add_random(v):
    """What does not depend on what is drawn: nothing, all, and eval mode."""
    def run(kind):
        return lambda x, training=True, **options: kind(**options).train(training)(x)

    shapes = {"dropout1d": (2, 3, 4), "dropout2d": (2, 3, 2, 2), "dropout3d": (2, 3, 1, 2, 2),
              "alpha_dropout": (2, 3), "feature_alpha_dropout": (2, 3, 2)}
    for op, kind in (("dropout1d", nn.Dropout1d), ("dropout2d", nn.Dropout2d),
                     ("dropout3d", nn.Dropout3d), ("alpha_dropout", nn.AlphaDropout),
                     ("feature_alpha_dropout", nn.FeatureAlphaDropout)):
        x = v.values(*shapes[op])
        v.case(op, "evaluating_is_identity", run(kind), {"training": False}, x=x)
        v.case(op, "p_zero", run(kind), {"p": 0.0}, x=x)
        v.case(op, "p_one", run(kind), {"p": 1.0}, x=x)
    v.case("dropout1d", "unbatched", run(nn.Dropout1d), {"p": 1.0}, x=v.values(3, 4))
    v.case("dropout3d", "unbatched", run(nn.Dropout3d), {"p": 1.0}, x=v.values(3, 1, 2, 2))

    def depth(x, p, training=True, per_row=True):
        """torchvision's StochasticDepth where nothing is drawn."""
        return x * (1.0 if p == 0 or not training else 0.0)

    for name, attrs in (("evaluating_is_identity", {"p": 0.5, "training": False}),
                        ("p_zero", {"p": 0.0}), ("p_one", {"p": 1.0}),
                        ("p_one_of_the_batch", {"p": 1.0, "per_row": False})):
        v.case("stochastic_depth", name, depth, attrs, x=v.values(3, 2))

    x = v.values(2, 3, scale=8.0)
    v.case("rrelu", "evaluating", run(nn.RReLU), {"training": False}, x=x)
    v.case("rrelu", "evaluating_options", run(nn.RReLU),
           {"lower": 0.25, "upper": 0.75, "training": False}, x=x)
    v.case("rrelu", "one_slope", run(nn.RReLU), {"lower": 0.5, "upper": 0.5}, x=x)


def add_tables_and_views(v):
    def bag(x, weight, count, size, **options):
        layer = nn.EmbeddingBag(count, size, **options).double()
        return torch.func.functional_call(layer, given(weight=weight), (x,))

    lists = torch.tensor([[0, 3, 2], [2, 1, 2]])
    for name, attrs in (("default", {}), ("sum", {"mode": "sum"}), ("max", {"mode": "max"}),
                        ("padding", {"padding_idx": 2})):
        v.case("embedding_bag", name, bag, {"count": 4, "size": 3, **attrs}, x=lists,
               weight=v.values(4, 3))
    v.case("unflatten", "sizes", lambda x, dim, sizes: nn.Unflatten(dim, sizes)(x),
           {"dim": 1, "sizes": [2, 3]}, x=v.values(2, 6))
    v.case("unflatten", "one_is_told", lambda x, dim, sizes: nn.Unflatten(dim, sizes)(x),
           {"dim": -1, "sizes": [2, -1]}, x=v.values(2, 4))


PARTS = (add_norms, add_random, add_tables_and_views)
