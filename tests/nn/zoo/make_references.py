#!/usr/bin/env python3
"""Writes references/NAME.txt: what PyTorch makes of a network of the zoo, in f64.

    make_references.py NAME...      (needs torch, torchvision and, for some networks, transformers)

The networks are torchvision's, or those of the modules of peers/, each of which has

    NETWORKS = {"lenet": Peer(make=..., inputs=[(2, 1, 28, 28)], counts=[0])}

Parameters and buffers are filled by their names (fill), so that no weights need to be kept. The
lines of a file, which zoo_test.cc reads:

    input 2 3 64 64 : 0      the shape with its batch; indices below that count, 0: numbers
    parameters 11689512
    names 62 9f3c...         of the state dict: how many, and fnv1a64 of "name [2, 3]\\n" for each, sorted
    shape 2 1000             of the result
    largest 12.5             of its absolute values
    values 64 ...            of the result, so many of them evenly spread, in evaluation mode
    single 0.4               how far PyTorch's result in f32 is from that, relative to the largest; where
                             nothing stands it is below SINGLE
    losses 6.9 6.5           in training without dropout: before and after a step of SGD
    other aux1 12.5 16 ...   of what a method gives beside the result: the largest absolute value, and
                             so many evenly spread

The loss is the mean cross entropy with hashed classes if the result is [n, classes], else the mean of
squares. --names prints the state dict's names and shapes instead.
"""
import importlib
import pathlib
import sys
from dataclasses import dataclass, field

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "benchmarks" / "peers")]
import hash_values  # noqa: E402

VALUES, OTHER_VALUES = 64, 16
SINGLE = 2.5e-6  # a quarter of what zoo_test.cc allows
LABELS = 2000
RATE = 0.01


@dataclass
class Peer:
    make: object  # () -> torch.nn.Module
    inputs: list = field(default_factory=lambda: [(2, 3, 64, 64)])
    counts: list = field(default_factory=lambda: [0])
    classifies: bool = True  # whether the loss may be a cross entropy
    # Takes the result that is compared out of what the network returns.
    result: object = lambda out: out
    # () -> {name: tensor}, from a method of the network other than its call, in evaluation mode.
    others: object = dict


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def value_of(name, shape):
    """What a parameter or buffer of that name is filled with (reference.cc has the same rules)."""
    salt = fnv1a(name) % 2**32
    last = name.rpartition(".")[2]
    if last == "running_var":
        return 1 + hash_values.values(shape, salt, 1.0)
    if len(shape) < 2:
        one_d = last == "weight"
        return np.float32(one_d) + hash_values.values(shape, salt, 0.4 if one_d else 0.2)
    fan = int(np.prod(shape[1:]))
    return hash_values.values(shape, salt, 2 * float(np.sqrt(6 / fan)))


def fill(net):
    with torch.no_grad():
        for name, tensor in net.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(torch.from_numpy(value_of(name, tuple(tensor.shape))))


def peers():
    found = {}
    for path in sorted((HERE / "peers").glob("*.py")):
        if path.stem != "__init__":
            found.update(importlib.import_module(f"peers.{path.stem}").NETWORKS)
    return found


def loss_of(y, peer):
    if peer.classifies and y.dim() == 2:
        return torch.nn.functional.cross_entropy(y, torch.from_numpy(hash_values.labels((y.shape[0],), LABELS, y.shape[1])))
    return (y * y).mean()


def without_dropout(net):
    for module in net.modules():
        kind = type(module).__name__
        if kind.startswith("Dropout") or kind == "StochasticDepth":
            module.p = 0.0
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0


def names_line(net):
    rows = sorted(f"{n} [{', '.join(map(str, t.shape))}]\n" for n, t in net.state_dict().items())
    return f"{len(rows)} {fnv1a(''.join(rows)):016x}"


def inputs_of(peer):
    made = []
    for i, (shape, count) in enumerate(zip(peer.inputs, peer.counts)):
        if count:
            made.append(torch.from_numpy(hash_values.labels(shape, 1000 + i, count)))
        else:
            made.append(torch.from_numpy(hash_values.values(shape, 1000 + i, 2.0)).double())
    return made


def losses(peer):
    """Before and after a step of SGD."""
    net = peer.make()
    fill(net)
    net = net.double().train()
    without_dropout(net)
    step, inputs, found = torch.optim.SGD(net.parameters(), lr=RATE), inputs_of(peer), []
    for _ in range(2):
        loss = loss_of(peer.result(net(*inputs)), peer)
        found.append(loss.item())
        step.zero_grad()
        loss.backward()
        step.step()
    return f"losses {found[0]:.12g} {found[1]:.12g}"


def spread(y, count):
    """How many values follow, and that many values, evenly spread."""
    flat = y.flatten()
    at = np.linspace(0, flat.numel() - 1, min(count, flat.numel())).astype(int)
    return f"{len(at)} {' '.join(f'{flat[i].item():.9g}' for i in at)}"


def reference(peer):
    net = peer.make()
    fill(net)
    lines = [f"input {' '.join(map(str, s))} : {c}" for s, c in zip(peer.inputs, peer.counts)]
    lines.append(f"parameters {sum(p.numel() for p in net.parameters())}")
    lines.append(f"names {names_line(net)}")
    net.eval()
    with torch.no_grad():
        single = peer.result(net(*[x.float() if x.is_floating_point() else x for x in inputs_of(peer)]))
        y = peer.result(net.double()(*inputs_of(peer)))
    lines.append(f"shape {' '.join(map(str, y.shape))}")
    lines.append(f"largest {y.abs().max().item():.9g}")
    error = ((single - y).abs().max() / y.abs().max()).item()
    if error > SINGLE:
        lines.append(f"single {error:.2g}")
    lines += [f"values {spread(y, VALUES)}", losses(peer)]
    for name, other in peer.others().items():
        lines.append(f"other {name} {other.abs().max().item():.9g} {spread(other, OTHER_VALUES)}")
    return "\n".join(lines) + "\n"


def main():
    known = peers()
    for name in sys.argv[1:]:
        if name == "--names":
            continue
        if name not in known:
            sys.exit(f"no peer called {name}; there are {', '.join(sorted(known))}")
        if "--names" in sys.argv:
            for row in known[name].make().state_dict().items():
                print(row[0], list(row[1].shape))
            continue
        (HERE / "references" / f"{name}.txt").write_text(reference(known[name]))
        print(name)


if __name__ == "__main__":
    main()
