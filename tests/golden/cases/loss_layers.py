"""Losses of nn beyond those of layer_classes.py, and the distances that some are made of."""

import torch
from torch import nn
from torch.nn import functional as F

from . import losses


def of_pair(kind):
    return lambda x, target, **options: kind(**options)(x, target)


def each_reduction(v, op, run, attrs=None, wrt=("x",), names=("none", "sum"), **inputs):
    """The default, and other reductions."""
    v.case(op, "default", run, attrs, wrt, **inputs)
    for name in names:
        v.case(op, name, run, {**(attrs or {}), "reduction": name}, wrt, **inputs)


def add_losses_of_pairs(v):
    x, signs = v.values(4, 3), v.integers(4, 3, high=2).float() * 2 - 1
    counts = v.integers(4, 3, high=6).float()
    each_reduction(v, "poisson_nll_loss", of_pair(nn.PoissonNLLLoss), x=x, target=counts)
    v.case("poisson_nll_loss", "options", of_pair(nn.PoissonNLLLoss),
           {"log_input": False, "full": True, "eps": 0.5}, ["x"], x=v.positive(4, 3), target=counts)
    each_reduction(v, "hinge_embedding_loss", of_pair(nn.HingeEmbeddingLoss), x=x, target=signs)
    v.case("hinge_embedding_loss", "margin", of_pair(nn.HingeEmbeddingLoss), {"margin": 0.5},
           ["x"], x=x, target=signs)
    each_reduction(v, "soft_margin_loss", of_pair(nn.SoftMarginLoss), x=x, target=signs)
    each_reduction(v, "multilabel_margin_loss", of_pair(nn.MultiLabelMarginLoss), x=v.values(3, 4),
                   target=torch.tensor([[3, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]]))

    def weighted(kind):
        def run(x, target, weight=None, **options):
            return kind(weight=None if weight is None else weight.double(), **options)(x, target)
        return run

    labels, classes = v.mask(4, 3).float(), v.integers(4, high=3)
    for op, kind, target in (
            ("multi_margin_loss", nn.MultiMarginLoss, classes),
            ("multilabel_soft_margin_loss", nn.MultiLabelSoftMarginLoss, labels)):
        each_reduction(v, op, weighted(kind), x=x, target=target)
        v.case(op, "weight", weighted(kind), None, ["x"], x=x, target=target, weight=v.positive(3))
    v.case("multi_margin_loss", "squares", weighted(nn.MultiMarginLoss), {"p": 2, "margin": 0.5},
           ["x"], x=x, target=classes)


def add_losses_of_more(v):
    def gaussian(x, target, var, **options):
        return nn.GaussianNLLLoss(**options)(x, target, var)

    inputs = {"x": v.values(3, 2), "target": v.values(3, 2), "var": v.positive(3, 2)}
    each_reduction(v, "gaussian_nll_loss", gaussian, wrt=None, **inputs)
    v.case("gaussian_nll_loss", "options", gaussian, {"full": True, "eps": 0.5}, **inputs)

    def ranking(x1, x2, target, **options):
        return nn.MarginRankingLoss(**options)(x1, x2, target)

    signs = v.integers(5, high=2).float() * 2 - 1
    inputs = {"x1": v.values(5), "x2": v.values(5), "target": signs}
    each_reduction(v, "margin_ranking_loss", ranking, wrt=["x1", "x2"], **inputs)
    v.case("margin_ranking_loss", "margin", ranking, {"margin": 0.5}, ["x1", "x2"], **inputs)

    def cosine(x1, x2, target, **options):
        return nn.CosineEmbeddingLoss(**options)(x1, x2, target)

    inputs = {"x1": v.values(4, 3), "x2": v.values(4, 3), "target": torch.tensor([1, -1, -1, 1])}
    each_reduction(v, "cosine_embedding_loss", cosine, wrt=None, **inputs)
    v.case("cosine_embedding_loss", "margin", cosine, {"margin": 0.1}, **inputs)

    def triplet(anchor, positive, negative, **options):
        return nn.TripletMarginLoss(**options)(anchor, positive, negative)

    inputs = {name: v.values(4, 3) for name in ("anchor", "positive", "negative")}
    each_reduction(v, "triplet_margin_loss", triplet, wrt=None, **inputs)
    v.case("triplet_margin_loss", "options", triplet,
           {"margin": 2.0, "p": 1.0, "eps": 0.01, "swap": True}, **inputs)

    def ctc(log_probs, targets, input_lengths, target_lengths, **options):
        return nn.CTCLoss(**options)(log_probs, targets, input_lengths, target_lengths)

    # These cases have no gradients: PyTorch's are right only after log_softmax (losses.py).
    inputs = {"log_probs": torch.log_softmax(v.values(6, 2, 4), -1),
              "targets": torch.tensor([[1, 3, 3], [2, 1, 0]]),
              "input_lengths": torch.tensor([6, 5]), "target_lengths": torch.tensor([3, 2])}
    each_reduction(v, "ctc_loss", ctc, wrt=[], **inputs)
    v.case("ctc_loss", "blank", ctc, {"blank": 3}, [], **{
        **inputs, "targets": torch.tensor([[1, 0, 0], [2, 1, 0]])})
    v.case("ctc_loss", "zero_infinity", ctc, {"zero_infinity": True, "reduction": "none"}, [], **{
        **inputs, "input_lengths": torch.tensor([3, 5])})


def add_losses_of_others(v):
    """What PyTorch has no class of: NNabla's and torchvision's formulas."""
    def insensitive(x, target, epsilon, reduction="none"):
        loss = F.relu((x - target).abs() - epsilon)
        return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[reduction]

    inputs = {"x": v.values(4, 3), "target": v.values(4, 3)}
    each_reduction(v, "epsilon_insensitive_loss", insensitive, {"epsilon": 0.5}, None,
                   ("mean", "sum"), **inputs)
    inputs["target"] = v.mask(4, 3).float()
    each_reduction(v, "sigmoid_focal_loss", losses.focal, None, ["x"], ("mean", "sum"), **inputs)
    v.case("sigmoid_focal_loss", "options", losses.focal, {"alpha": -1.0, "gamma": 1.5}, ["x"],
           **inputs)


def add_distances(v):
    cosine = lambda x1, x2, **options: nn.CosineSimilarity(**options)(x1, x2)
    distance = lambda x1, x2, **options: nn.PairwiseDistance(**options)(x1, x2)
    inputs = {"x1": v.values(3, 4), "x2": v.values(3, 4)}
    v.case("cosine_similarity", "default", cosine, **inputs)
    v.case("cosine_similarity", "dim", cosine, {"dim": 0}, **inputs)
    # These cases have no gradients: PyTorch's pass the cut at eps.
    v.case("cosine_similarity", "eps", cosine, {"eps": 3.0}, [], **inputs)
    v.case("pairwise_distance", "default", distance, **inputs)
    v.case("pairwise_distance", "options", distance, {"p": 1.0, "eps": 0.1, "keepdim": True},
           **inputs)


PARTS = (add_losses_of_pairs, add_losses_of_more, add_losses_of_others, add_distances)
