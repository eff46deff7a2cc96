"""What every workload of the PyTorch worker says of itself."""

import torch
from torch import nn
from torch.nn import functional as F

import hash_values


class Workload(nn.Module):
    """A model, its batches, its loss, and what a step is made of: benchmarks/workload.h.

    kind: "train", "differentiate" (no update) or "run" (no gradients).
    calls: how often a step computes the loss.
    """

    kind = "train"
    calls = 1

    def batch(self, step, size):
        """The tensors (x, y) that step `step` reads, on the CPU."""
        raise NotImplementedError

    def loss(self, x, y):
        raise NotImplementedError

    def begin_step(self, x, compiled):
        """What precedes the first call of a step."""


class Classify(Workload):
    """Images of `input_shape` (or rows), ten classes, the mean cross entropy."""

    input_shape = ()

    def batch(self, step, size):
        x, y = hash_values.batch(step, size, self.input_shape)
        return torch.from_numpy(x), torch.from_numpy(y)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
