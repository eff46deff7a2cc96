"""PyTorch's function for a call of one of Firn's operations.

The golden cases (tests/golden/cases) call PyTorch for nearly every operation, with Firn's names of
inputs and options, so a new operation with samples and golden cases is found here without an edit.
OWN has what they cannot say: operations whose attributes are not the arguments of the cases, those
that write in place, which the cases do on copies, and random ones.
"""

import inspect
import os
import sys

import torch
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tests", "golden")]
import make_vectors  # noqa: E402  (needs the path above)
import torch_vision  # noqa: E402
import vector_format  # noqa: E402

DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
          "bf16": torch.bfloat16, "i8": torch.int8, "i32": torch.int32, "i64": torch.int64,
          "u8": torch.uint8, "bool": torch.bool}


class NoPeer(Exception):
    """PyTorch has no such function, or none is known here; the message says why."""


class Candidate:
    """A golden case: its function, and what it was called with."""

    def __init__(self, function, attrs, inputs):
        self.function, self.attrs = function, set(attrs)
        self.kinds = {key: kind_of(value[0] if isinstance(value, (list, tuple)) else value)
                      for key, value in inputs.items()}


def kind_of(tensor):
    if tensor.dtype == torch.bool:
        return "bool"
    return "float" if tensor.is_floating_point() else "integer"


class Cases(vector_format.Vectors):
    """Keeps the calls of cases without making them."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def case(self, op, name, function, attrs=None, wrt=None, **inputs):
        self.found.setdefault(op, []).append(Candidate(function, attrs or {}, inputs))


def golden_candidates():
    """{operation: [Candidate]} of all golden cases of operations."""
    cases = Cases()
    for part in make_vectors.operation_parts():
        part(cases)
    return cases.found


def all_the_same(sizes):
    """[2] -> 2: what a pooling takes for every dimension."""
    return sizes[0] if len(sizes) == 1 else sizes


def pooled(function):
    """Firn's attributes of pooling always have a stride; in the options it may be the kernel by default."""
    def run(x, kernel, stride, **options):
        return function(x, all_the_same(kernel), all_the_same(stride),
                        **{key: all_the_same(value) if isinstance(value, list) else value
                           for key, value in options.items()})
    return run


def lp_pooled(function):
    def run(x, p, kernel, stride, **options):
        return function(x, p, all_the_same(kernel), all_the_same(stride), **options)
    return run


def unfolded(function):
    """Does what pooled does; the size of a folded image is no option of unfold."""
    def run(x, kernel, output_size, **options):
        first = (output_size,) if function is F.fold else ()
        return function(x, *first, all_the_same(kernel),
                        **{key: all_the_same(value) for key, value in options.items()})
    return run


def transposed_convolution(function):
    """The operation has the size of its result, from which the options' output_padding follows."""
    def run(x, weight, stride, padding, dilation, result, **options):
        sizes = zip(x.shape[2:], weight.shape[2:], *(
            values * (x.dim() - 2) if len(values) == 1 else values
            for values in (stride, padding, dilation, result)))
        rest = [want - ((size - 1) * step - 2 * pad + spread * (kernel - 1) + 1)
                for size, kernel, step, pad, spread, want in sizes]
        return function(x, weight, None, stride, padding, rest, dilation=dilation, **options)
    return run


def normalised_last(function):
    def run(x, weight=None, bias=None, dims=1, eps=1e-5, **_):
        more = () if function is F.rms_norm else (bias,)
        return function(x, x.shape[x.dim() - dims:], weight, *more, eps)
    return run


def matmul(a, b, transpose_a=False, transpose_b=False):
    return torch.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)


def batch_norm_train(x, running_mean, running_var, weight=None, bias=None, activation="none",
                     momentum=0.1, eps=1e-5):
    y = F.batch_norm(x, running_mean, running_var, weight, bias, True, momentum, eps)
    return y if activation == "none" else getattr(torch, activation)(y)


def subscript(indices, dims):
    """The tuple with indices[i] at dimension dims[i] and None, a whole dimension, between."""
    places = dict(zip(dims, indices))
    return tuple(places.get(dim) for dim in range(max(dims) + 1))


def one_hot(indices, num_classes, dtype="i64"):
    return F.one_hot(indices, num_classes).to(DTYPES[dtype])


def arange(size, start=0, step=1, dtype="i64", **_):
    return torch.arange(start, start + size * step, step, dtype=DTYPES[dtype])


def clip_grad_norm(grads, max_norm=1.0, p=2.0):
    parameters = [grad.new_empty(1).expand(grad.shape) for grad in grads]  # nothing reads them
    for parameter, grad in zip(parameters, grads):
        parameter.grad = grad
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm, p)


def attention_by_rows(q, k, v, mask=None, position=None, scale=1.0, dropout=0.0, causal=False):
    """The result in the layout of Firn's. PyTorch draws what it drops from its own generator."""
    del position
    y = F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, scale=scale,
                                       enable_gqa=q.shape[1] != k.shape[1])
    return y.transpose(1, 2)


def sampled_unique(x, **_):
    """PyTorch does not say where an element is first."""
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    return [values, None, inverse, counts]


def scatter_nd(x, indices, updates, reduce):
    if reduce > 0:
        raise NoPeer("index_put adds and nothing else")
    return x.index_put(indices.unbind(-1), updates, accumulate=reduce == 0)


def rand_gamma(state, shape_parameter, log=False):
    del state
    y = torch._standard_gamma(shape_parameter)
    return y.log() if log else y


# Parameters named here get their attribute even at its default, others only when it differs.
OWN = {
    "matmul": matmul,
    "layer_norm": normalised_last(F.layer_norm),
    "rms_norm": normalised_last(F.rms_norm),
    "batch_norm_train": batch_norm_train,
    "batch_norm_act_train": batch_norm_train,
    **{f"{kind}_pool{n}d": pooled(getattr(F, f"{kind}_pool{n}d"))
       for kind in ("max", "avg") for n in (1, 2, 3)},
    "lp_pool1d": lp_pooled(F.lp_pool1d),
    "lp_pool2d": lp_pooled(F.lp_pool2d),
    "max_unpool2d": lambda values, indices, output_size: F.max_unpool2d(
        values, indices, 2, output_size=output_size * (3 - len(output_size))),
    "unfold": unfolded(F.unfold),
    "fold": unfolded(F.fold),
    **{f"conv_transpose{n}d": transposed_convolution(getattr(F, f"conv_transpose{n}d"))
       for n in (1, 2, 3)},
    "argmax": lambda x, dim, flatten, keepdim: torch.argmax(x, None if flatten else dim, keepdim),
    "argmin": lambda x, dim, flatten, keepdim: torch.argmin(x, None if flatten else dim, keepdim),
    "concat": lambda tensors, dim, sizes: torch.cat(tensors, dim),
    "cross_entropy": lambda logits, label, weight=None, **options: F.cross_entropy(
        logits, label, weight, **options),
    "nll_loss": lambda log_probs, label, weight=None, classes=0, **options: F.nll_loss(
        log_probs, label, weight, **options),
    # If log_probs are not logarithms of probabilities, PyTorch's gradient differs.
    "ctc_loss": lambda log_probs, targets, input_lengths, target_lengths, **options: F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, reduction="none", **options),
    "multilabel_margin_loss": lambda x, target: F.multilabel_margin_loss(x, target,
                                                                         reduction="none"),
    "scatter_reduce": lambda x, indices, source, dim, reduce: torch.scatter_reduce(
        x, dim, indices, source, reduce),
    "scatter_nd": scatter_nd,
    "unique": sampled_unique,
    "lstsq": lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd"),
    "int_matmul": lambda a, zero_point, b, other_zero_point: torch._int_mm(a[0], b[0])[None],
    "nonzero": lambda x, count: torch.nonzero(x),
    "one_hot": one_hot,
    "eigh": lambda a, upper=False: torch.linalg.eigh(a, "U" if upper else "L"),
    "svd": lambda a, full_matrices=False: torch.linalg.svd(a, full_matrices),
    "arange": arange,
    "scaled_dot_product_attention": attention_by_rows,
    "channel_shuffle": lambda x, factor: F.channel_shuffle(x, factor),
    "pixel_shuffle": lambda x, factor: F.pixel_shuffle(x, factor),
    "pixel_unshuffle": lambda x, factor: F.pixel_unshuffle(x, factor),
    "diag_embed": lambda x, rows, columns, offset=0: torch.diag_embed(x, offset),
    # These work in place.
    "accumulate": lambda target, source: target.add_(source),
    "assign": lambda target, source: target.copy_(source),
    "clip_grad_norm": clip_grad_norm,
    "clip_grad_value": lambda grads, limit: [g.clamp_(-limit, limit) for g in grads],
    "index_write": lambda target, values, indices, dims: target.index_put_(
        subscript(indices, dims), values),
    **torch_vision.OWN,
    # These are random: they have no results to compare, and so no golden cases.
    "bernoulli": lambda state, p: torch.bernoulli(p),
    "alpha_dropout": lambda x, state, together=True, p=0.5: (
        F.feature_alpha_dropout if together else F.alpha_dropout)(x, p, True),
    "feature_dropout": lambda x, state, p=0.5: torch.feature_dropout(x, p, True),
    "rand_beta": lambda x, b, state: torch.distributions.Beta(x, b, validate_args=False).rsample(),
    "rand_gamma": rand_gamma,
    "binomial": lambda state, count, prob: torch.binomial(count, prob),
    "gumbel_softmax": lambda x, state, tau, hard, dim: F.gumbel_softmax(x, tau, hard, dim=dim),
    "dropout": lambda x, state, p=0.5: F.dropout(x, p),
    "multinomial": lambda state, probs, n, replacement: torch.multinomial(probs, n, replacement),
    "rand": lambda state, shape, **_: torch.rand(shape),
    "randn": lambda state, shape, **_: torch.randn(shape),
    "randint": lambda state, shape, low, high, **_: torch.randint(low, high, shape),
    "randperm": lambda state, n: torch.randperm(n),
}


def wanted_parameters(function):
    """(names without a default, whether it takes any other names)."""
    parameters = inspect.signature(function).parameters.values()
    required = {p.name for p in parameters
                if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD}
    return required, any(p.kind == p.VAR_KEYWORD for p in parameters)


def arguments(function, tensors, attrs, defaults):
    """The keyword arguments of a call; None when the function does not take them.

    An attribute at its default is left to the function's own, unless it has none.
    """
    required, _ = wanted_parameters(function)
    given = {**tensors, **attrs, **{k: v for k, v in defaults.items() if k in required}}
    try:
        inspect.signature(function).bind(**given)
    except TypeError:
        return None
    return given


def lists_joined(tensors):
    """{'tensors.0': a, 'tensors.1': b} -> {'tensors': [a, b]}."""
    joined = {}
    for name, tensor in tensors.items():
        stem, dot, _ = name.partition(".")
        if dot:
            joined.setdefault(stem, []).append(tensor)
        else:
            joined[name] = tensor
    return joined


def writes_much(description):
    """Whether an input that is written in place is as large as any other."""
    sizes = [(numel(one["shape"]), one["inout"]) for one in description["inputs"]]
    largest = max((size for size, _ in sizes), default=0)
    return any(inout and size == largest for size, inout in sizes)


def numel(shape):
    count = 1
    for size in shape:
        count *= size
    return count


class Peers:
    """Finds PyTorch's functions. Stateless after construction."""

    def __init__(self, candidates=None, own=None):
        self._candidates = golden_candidates() if candidates is None else candidates
        self._own = OWN if own is None else own

    def check(self, description):
        """Raises NoPeer for an operation that no function here can stand for."""
        operation = description["operation"]
        if operation in self._own:
            return
        if description["internal"]:
            raise NoPeer(f"users do not call it: {description['internal']}")
        if operation not in self._candidates:
            why = description["without_vectors"] or (
                "its results are random" if description["random"] else "nobody wrote any")
            raise NoPeer(f"it has no golden cases: {why}")
        if writes_much(description):
            raise NoPeer("it writes in place, and its golden cases write into a copy")

    def call(self, description, tensors):
        """A function without arguments that calls PyTorch with these inputs, {name: tensor}."""
        self.check(description)
        tensors = lists_joined(tensors)
        attrs, defaults = description["attrs"], description["defaults"]
        own = self._own.get(description["operation"])
        if own is not None:
            given = {**tensors, **self._known(own, {**defaults, **attrs}, attrs)}
            return lambda: own(**given)
        function, given = self._golden(description["operation"], tensors, attrs, defaults)
        return lambda: function(**given)

    @staticmethod
    def _known(function, every, attrs):
        """Attributes that the function names, and of the others those that are not the default."""
        names = inspect.signature(function).parameters
        return {key: value for key, value in every.items() if key in names or key in attrs}

    def _golden(self, operation, tensors, attrs, defaults):
        best = None
        kinds = {key: kind_of(value[0] if isinstance(value, list) else value)
                 for key, value in tensors.items()}
        for candidate in self._candidates[operation]:
            given = arguments(candidate.function, tensors, attrs, defaults)
            if given is None:
                continue
            fit = (candidate.kinds == kinds, candidate.attrs == set(attrs),
                   set(candidate.kinds) == set(kinds))
            if best is None or fit > best[0]:
                best = fit, candidate.function, given
        if best is None:
            raise NoPeer(f"no golden case takes {', '.join([*tensors, *attrs])}")
        return best[1:]
