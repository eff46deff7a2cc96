"""Loss functions. `reduction` is none, mean or sum, and mean when absent."""

import math

import torch
from torch.nn import functional as F

INF = math.inf
REDUCTIONS = ({}, {"reduction": "none"}, {"reduction": "sum"})


def label_of(attrs):
    return attrs.get("reduction", "mean")


def add_cross_entropy(v):
    def run(logits, target, weight=None, **options):
        return F.cross_entropy(logits, target, weight, **options)

    def case(name, shape, attrs=None, target=None, weight=False, classes=None):
        classes = classes or shape[min(1, len(shape) - 1)]
        if target is None:
            target = v.integers(*(shape[:1] + shape[2:]), high=classes)
        inputs = {"logits": v.values(*shape), "target": target}
        if weight:
            inputs["weight"] = v.positive(classes)
        v.case("cross_entropy", name, run, attrs, ["logits"], **inputs)

    ignored = torch.tensor([1, -100, 0, -100])
    for attrs in REDUCTIONS:
        tag = label_of(attrs)
        case(f"{tag}", (4, 3), attrs)
        case(f"{tag}_weight", (4, 3), attrs, weight=True)
        case(f"{tag}_ignored", (4, 3), attrs, ignored)
        case(f"{tag}_smoothing", (4, 3), {**attrs, "label_smoothing": 0.1})
        case(f"{tag}_smoothing_weight_ignored", (4, 3), {**attrs, "label_smoothing": 0.2},
             ignored, weight=True)
        case(f"{tag}_images", (2, 3, 2, 2), attrs)
        case(f"{tag}_probabilities", (4, 3), attrs, torch.softmax(v.values(4, 3), 1))
        case(f"{tag}_probabilities_weight_smoothing", (4, 3), {**attrs, "label_smoothing": 0.1},
             torch.softmax(v.values(4, 3), 1), weight=True)
    case("ignore_index", (4, 3), {"ignore_index": 2}, torch.tensor([2, 0, 1, 2]))
    case("weight_of_images", (2, 3, 2), weight=True)
    case("one_sample_without_batch", (5,), target=torch.tensor(3), classes=5)
    case("ten_classes", (8, 10))
    v.case("cross_entropy", "all_ignored_is_nan", run, None, [], logits=v.values(2, 3),
           target=torch.tensor([-100, -100]))
    v.case("cross_entropy", "large_logits", run, {"reduction": "none"}, ["logits"],
           logits=torch.tensor([[1e4, 0.0, -1e4], [1e4, 0.0, -1e4]]), target=torch.tensor([0, 1]))
    v.case("cross_entropy", "masked_class", run, {"reduction": "none"}, ["logits"],
           logits=torch.tensor([[-INF, 1.0, 2.0]]), target=torch.tensor([1]))


def add_nll(v):
    def run(log_probs, target, weight=None, **options):
        return F.nll_loss(log_probs, target, weight, **options)

    ignored = torch.tensor([1, -100, 0, 2])
    for attrs in REDUCTIONS:
        tag = label_of(attrs)
        for name, target, extra in (("", v.integers(4, high=3), {}),
                                    ("_weight", v.integers(4, high=3), {"weight": v.positive(3)}),
                                    ("_ignored_weight", ignored, {"weight": v.positive(3)})):
            v.case("nll_loss", tag + name, run, attrs, ["log_probs"], log_probs=v.values(4, 3) - 2,
                   target=target, **extra)
    v.case("nll_loss", "images", run, {"ignore_index": 1}, ["log_probs"],
           log_probs=v.values(2, 3, 2, 2), target=v.integers(2, 2, 2, high=3))
    v.case("nll_loss", "one_sample_without_batch", run, None, ["log_probs"],
           log_probs=v.values(4), target=torch.tensor(2))


def add_differences(v):
    functions = {"mse_loss": F.mse_loss, "l1_loss": F.l1_loss, "smooth_l1_loss": F.smooth_l1_loss,
                 "huber_loss": F.huber_loss}
    for op, function in functions.items():
        run = lambda x, y, f=function, **options: f(x, y, **options)
        for attrs in REDUCTIONS:
            v.case(op, label_of(attrs), run, attrs, x=v.values(3, 4), y=v.values(3, 4))
        v.case(op, "equal_elements", run, {"reduction": "none"}, x=torch.tensor([1.0, 2.0, 3.0]),
               y=torch.tensor([1.0, 2.5, -3.0]))
        v.case(op, "scalars", run, x=v.values(), y=v.values())
    for beta in (0.0, 0.5, 2.0):
        v.case("smooth_l1_loss", f"beta_{beta}".replace(".", "_"),
               lambda x, y, beta: F.smooth_l1_loss(x, y, beta=beta), {"beta": beta},
               x=v.values(2, 5), y=v.values(2, 5))
    edge = torch.tensor([0.0, 1.0, -1.0, 1.5]), torch.zeros(4)
    v.case("smooth_l1_loss", "at_the_knee", lambda x, y: F.smooth_l1_loss(x, y), x=edge[0],
           y=edge[1])
    v.case("huber_loss", "delta", lambda x, y, delta: F.huber_loss(x, y, delta=delta),
           {"delta": 0.5}, x=v.values(2, 5), y=v.values(2, 5))


def add_binary(v):
    bce = lambda p, target, weight=None, **options: F.binary_cross_entropy(p, target, weight,
                                                                           **options)
    logits = lambda x, target, weight=None, pos_weight=None, **options: (
        F.binary_cross_entropy_with_logits(x, target, weight, pos_weight=pos_weight, **options))
    for attrs in REDUCTIONS:
        tag = label_of(attrs)
        v.case("binary_cross_entropy", tag, bce, attrs, ["p"], p=v.positive(3, 2, low=0.02,
                                                                           high=0.98),
               target=v.mask(3, 2).float())
        v.case("binary_cross_entropy", tag + "_weight", bce, attrs, ["p"],
               p=v.positive(3, 2, low=0.02, high=0.98), target=v.positive(3, 2, low=0, high=1),
               weight=v.positive(3, 1))
        v.case("binary_cross_entropy_with_logits", tag, logits, attrs, ["x"], x=v.values(3, 2),
               target=v.mask(3, 2).float())
        v.case("binary_cross_entropy_with_logits", tag + "_weights", logits, attrs, ["x"],
               x=v.values(3, 2), target=v.positive(3, 2, low=0, high=1), weight=v.positive(3, 1),
               pos_weight=v.positive(2))
    v.case("binary_cross_entropy", "log_is_clamped", bce, {"reduction": "none"}, [],
           p=torch.tensor([0.0, 0.0, 1.0, 1.0]), target=torch.tensor([0.0, 1.0, 0.0, 1.0]))
    v.case("binary_cross_entropy_with_logits", "extremes", logits, {"reduction": "none"}, ["x"],
           x=torch.tensor([-1e3, -60.0, 0.0, 60.0, 1e3]), target=torch.tensor([0.0, 1, 0.5, 0, 1]))


def add_kl_div(v):
    run = lambda log_q, p, **options: F.kl_div(log_q, p, **options)
    for attrs in REDUCTIONS + ({"reduction": "batchmean"},):
        log_q = torch.log_softmax(v.values(3, 4), 1)
        p = torch.softmax(v.values(3, 4), 1)
        v.case("kl_div", label_of(attrs), run, attrs, ["log_q"], log_q=log_q, p=p)
        v.case("kl_div", label_of(attrs) + "_log_target", run, {**attrs, "log_target": True},
               ["log_q"], log_q=log_q, p=p.log())
    v.case("kl_div", "zero_probability", run, {"reduction": "none"}, ["log_q"],
           log_q=torch.tensor([-1.0, -0.5]), p=torch.tensor([0.0, 1.0]))


def add_likelihoods(v):
    poisson = lambda x, target, **options: F.poisson_nll_loss(x, target, **options)
    for attrs in REDUCTIONS:
        v.case("poisson_nll_loss", label_of(attrs), poisson, attrs, ["x"], x=v.values(3, 2),
               target=v.integers(3, 2, high=6).float())
    for name, attrs in (("rate", {"log_input": False}),
                        ("rate_eps", {"log_input": False, "eps": 0.5}),
                        ("full", {"full": True, "reduction": "none"}),
                        ("full_rate", {"full": True, "log_input": False})):
        v.case("poisson_nll_loss", name, poisson, attrs, ["x"], x=v.positive(3, 2),
               target=torch.tensor([[0.0, 1.0], [2.0, 3.0], [0.5, 7.0]]))
    gaussian = lambda mean, target, var, **options: F.gaussian_nll_loss(mean, target, var,
                                                                        **options)
    for attrs in REDUCTIONS:
        v.case("gaussian_nll_loss", label_of(attrs), gaussian, attrs, mean=v.values(3, 2),
               target=v.values(3, 2), var=v.positive(3, 2))
    for name, shape in (("variance_of_rows", (3,)), ("variance_of_rows_kept", (3, 1))):
        v.case("gaussian_nll_loss", name, gaussian, {"full": True}, mean=v.values(3, 2),
               target=v.values(3, 2), var=v.positive(*shape))
    v.case("gaussian_nll_loss", "variance_is_cut", gaussian, {"eps": 0.25, "reduction": "none"},
           mean=v.values(3), target=v.values(3), var=torch.tensor([0.0, 0.125, 2.0]))


def add_margins(v):
    signs = lambda *shape: v.integers(*shape, high=2).float() * 2 - 1
    hinge = lambda x, target, **options: F.hinge_embedding_loss(x, target, **options)
    ranking = lambda x1, x2, target, **options: F.margin_ranking_loss(x1, x2, target, **options)
    soft = lambda x, target, **options: F.soft_margin_loss(x, target, **options)
    multi = lambda x, target, weight=None, **options: F.multi_margin_loss(x, target, weight=weight,
                                                                          **options)
    labels = lambda x, target, **options: F.multilabel_margin_loss(x, target, **options)
    soft_labels = lambda x, target, weight=None, **options: F.multilabel_soft_margin_loss(
        x, target, weight, **options)
    listed = torch.tensor([[3, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]])
    for attrs in REDUCTIONS:
        tag = label_of(attrs)
        v.case("hinge_embedding_loss", tag, hinge, attrs, ["x"], x=v.values(3, 4),
               target=signs(3, 4))
        v.case("margin_ranking_loss", tag, ranking, attrs, ["x1", "x2"], x1=v.values(5),
               x2=v.values(5), target=signs(5))
        v.case("soft_margin_loss", tag, soft, attrs, ["x"], x=v.values(3, 4), target=signs(3, 4))
        v.case("multi_margin_loss", tag, multi, attrs, ["x"], x=v.values(4, 3),
               target=v.integers(4, high=3))
        v.case("multi_margin_loss", tag + "_squares_weight", multi,
               {"p": 2, "margin": 0.5, **attrs}, ["x"], x=v.values(4, 3), target=v.integers(4, high=3), weight=v.positive(3))
        v.case("multilabel_margin_loss", tag, labels, attrs, ["x"], x=v.values(3, 4), target=listed)
        v.case("multilabel_soft_margin_loss", tag, soft_labels, attrs, ["x"], x=v.values(3, 4),
               target=v.mask(3, 4).float(), weight=v.positive(4))
    v.case("hinge_embedding_loss", "margin", hinge, {"margin": 0.5, "reduction": "none"}, ["x"],
           x=torch.tensor([0.25, 0.5, 2.0, 1.0]), target=torch.tensor([-1.0, -1.0, -1.0, 1.0]))
    v.case("margin_ranking_loss", "at_the_kink", ranking, {"margin": 1.0, "reduction": "none"},
           ["x1", "x2"], x1=torch.tensor([2.0, 3.0]), x2=torch.tensor([1.0, 4.0]),
           target=torch.tensor([1.0, -1.0]))
    v.case("soft_margin_loss", "moderately_far", soft, {"reduction": "none"}, ["x"],
           x=torch.tensor([30.0, -30.0]), target=torch.tensor([1.0, 1.0]))
    v.case("multi_margin_loss", "one_sample", multi, None, ["x"], x=v.values(4),
           target=torch.tensor(2))
    v.case("multilabel_margin_loss", "one_sample", labels, None, ["x"], x=v.values(4),
           target=torch.tensor([2, 0, -1, 0]))
    v.case("multilabel_soft_margin_loss", "one_sample", soft_labels, None, ["x"], x=v.values(4),
           target=v.mask(4).float())


def add_similarities(v):
    cosine = lambda x1, x2, **options: F.cosine_similarity(x1, x2, **options)
    v.case("cosine_similarity", "rows", cosine, x1=v.values(3, 4), x2=v.values(3, 4))
    v.case("cosine_similarity", "columns", cosine, {"dim": 0}, x1=v.values(3, 4), x2=v.values(3, 4))
    v.case("cosine_similarity", "broadcast", cosine, {"dim": -1}, x1=v.values(3, 1, 4),
           x2=v.values(2, 4))
    distance = lambda x1, x2, **options: F.pairwise_distance(x1, x2, **options)
    for name, attrs in (("default", {}), ("kept", {"keepdim": True}), ("p_1", {"p": 1.0}),
                        ("p_3_eps", {"p": 3.0, "eps": 0.1}), ("p_inf", {"p": INF})):
        v.case("pairwise_distance", name, distance, attrs, x1=v.values(3, 4), x2=v.values(3, 4))
    v.case("pairwise_distance", "broadcast", distance, x1=v.values(3, 1, 4), x2=v.values(2, 4))
    embedding = lambda x1, x2, target, **options: F.cosine_embedding_loss(x1, x2, target, **options)
    triplet = lambda anchor, positive, negative, **options: F.triplet_margin_loss(
        anchor, positive, negative, **options)
    for attrs in REDUCTIONS:
        tag = label_of(attrs)
        v.case("cosine_embedding_loss", tag, embedding, {"margin": 0.1, **attrs}, x1=v.values(4, 3),
               x2=v.values(4, 3), target=torch.tensor([1, -1, -1, 1]))
        v.case("triplet_margin_loss", tag, triplet, attrs, anchor=v.values(4, 3),
               positive=v.values(4, 3), negative=v.values(4, 3))
        v.case("triplet_margin_loss", tag + "_swap", triplet,
               {"margin": 2.0, "p": 1.0, "swap": True, **attrs}, anchor=v.values(4, 3),
               positive=v.values(4, 3), negative=v.values(4, 3))
    v.case("cosine_embedding_loss", "one_sample", embedding, None, x1=v.values(3), x2=v.values(3),
           target=torch.tensor(1))


def focal(x, target, alpha=0.25, gamma=2.0, reduction="none"):
    """torchvision.ops.sigmoid_focal_loss, written out, so that torchvision is not needed."""
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    loss = loss * (1 - (p * target + (1 - p) * (1 - target)))**gamma
    if alpha >= 0:
        loss = (alpha * target + (1 - alpha) * (1 - target)) * loss
    return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[reduction]


def add_focal(v):
    for name, attrs in (("none", {}), ("mean", {"reduction": "mean"}),
                        ("sum", {"reduction": "sum"}),
                        ("unweighted", {"alpha": -1.0, "gamma": 1.5}), ("gamma_0", {"gamma": 0.0})):
        v.case("sigmoid_focal_loss", name, focal, attrs, ["x"], x=v.values(3, 4),
               target=v.mask(3, 4).float())


def add_cdist(v):
    run = lambda x, y, **options: torch.cdist(x, y, **options)
    for name, attrs in (("default", {}), ("p_0", {"p": 0.0}), ("p_1", {"p": 1.0}),
                        ("p_3", {"p": 3.0}), ("p_inf", {"p": INF})):
        v.case("cdist", name, run, attrs, x=v.values(4, 3), y=v.values(5, 3))
    v.case("cdist", "batches", run, x=v.values(2, 1, 3, 4), y=v.values(3, 2, 4))
    v.case("cdist", "equal_rows", run, x=torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
           y=torch.tensor([[3.0, 4.0], [0.0, 2.0]]))


def add_ctc(v):
    """From logits: PyTorch's gradient in log_probs is right only after log_softmax."""
    run = lambda logits, targets, input_lengths, target_lengths, **options: F.ctc_loss(
        torch.log_softmax(logits, -1), targets, input_lengths, target_lengths, **options)

    def case(name, shape, attrs, targets, inputs, lengths):
        v.case("ctc_loss", name, run, attrs, ["logits"], logits=v.values(*shape),
               targets=torch.tensor(targets), input_lengths=torch.tensor(inputs),
               target_lengths=torch.tensor(lengths))

    rows = [[1, 2, 2], [4, 0, 0], [3, 1, 3]]
    for attrs in REDUCTIONS:
        tag = label_of(attrs)
        case(tag, (7, 3, 5), attrs, rows, [7, 6, 5], [3, 1, 3])
        case(f"{tag}_behind_one_another", (7, 3, 5), attrs, [1, 1, 4, 2, 3], [7, 4, 7], [2, 0, 3])
        case(f"{tag}_out_of_reach", (4, 2, 3), {**attrs, "zero_infinity": True},
             [[1, 1, 2], [2, 1, 2]], [3, 4], [3, 3])
        case(f"{tag}_one_sample", (6, 4), attrs, [1, 3], 6, 2)
    case("infinite", (3, 2, 3), {"reduction": "none"}, [[1, 1], [2, 1]], [2, 3], [2, 2])
    case("another_blank", (6, 2, 4), {"blank": 2}, [[0, 1, 3], [3, 3, 0]], [6, 6], [3, 2])
    case("no_labels", (4, 2, 3), {"reduction": "sum"}, [[0], [0]], [4, 2], [0, 0])
    case("long", (40, 2, 6), {}, [[1, 2, 3, 4, 5, 5, 4, 3, 2, 1], [5, 1, 1, 1, 2, 2, 3, 4, 0, 0]],
         [40, 33], [10, 8])


PARTS = (add_cross_entropy, add_nll, add_differences, add_binary, add_kl_div, add_likelihoods,
         add_margins, add_similarities, add_focal, add_cdist, add_ctc)
