"""Reproducible parameters and batches without shipping them: an integer hash, not a generator.

Any program with 64-bit integers can make the same numbers, so two frameworks (or a test) start from
the same parameters and see the same batches:

  splitmix64(x): x += 0x9E3779B97F4A7C15
                 x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
                 x = (x ^ (x >> 27)) * 0x94D049BB133111EB
                 return x ^ (x >> 31)                          (all modulo 2^64)
  value(i, salt, scale) = ((splitmix64(salt * 2^32 + i) >> 40) / 2^24 - 0.5) * scale
  label(i, salt)        = splitmix64(salt * 2^32 + i) mod the number of classes, 10 for images

i is the row-major index in the tensor. The product is taken in float64 and rounded to float32, also
where the training then runs in float64. Parameters take salt = their index in definition order and
scale = 2 / sqrt(fan_in), so they lie in +-1/sqrt(fan_in); normalisation weights are 1 and biases 0.
Step s reads batch s mod 2: inputs (or tokens, as labels) salt 1000 + s mod 2 with scale 2, labels salt 2000 + s mod 2. Two
batches alternate so that a loss falls as the model learns them: a wrong update shows at once.
"""

import math

import numpy as np

INPUT_SALT = 1000
LABEL_SALT = 2000
INPUT_SCALE = 2.0
BATCHES = 2


def splitmix64(x):
    """The splitmix64 finaliser of an array of uint64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hashes(count, salt):
    return splitmix64(np.uint64(salt << 32) + np.arange(count, dtype=np.uint64))


def values(shape, salt, scale):
    """A float32 array of `shape` with elements in [-scale/2, scale/2)."""
    bits = hashes(math.prod(shape), salt) >> np.uint64(40)
    return ((bits.astype(np.float64) / 2**24 - 0.5) * scale).astype(np.float32).reshape(shape)


def labels(shape, salt, classes=10):
    """An int64 array of `shape` with class indices below `classes`."""
    count = math.prod(shape)
    return (hashes(count, salt) % np.uint64(classes)).astype(np.int64).reshape(shape)


def batch(step, batch_size, input_shape):
    """The inputs (batch, *input_shape) and labels (batch) that training step `step` reads."""
    turn = step % BATCHES
    x = values((batch_size, *input_shape), INPUT_SALT + turn, INPUT_SCALE)
    return x, labels((batch_size,), LABEL_SALT + turn)


def tokens(step, shape, count):
    """What that step reads of tokens, which are class indices below `count`."""
    return labels(shape, INPUT_SALT + step % BATCHES, count)


def parameter_rules(named_shapes, norm_names):
    """How to fill each parameter: rows (index, name, shape, 'hash', scale) or (..., 'constant', v).

    `named_shapes` lists (name, shape) in definition order; `norm_names` holds the names that belong
    to normalisation layers. A bias shares the fan-in of the weight just before it.
    """
    rows, fan_in = [], 1
    for index, (name, shape) in enumerate(named_shapes):
        if name in norm_names:
            rows.append((index, name, shape, "constant", 1.0 if name.endswith("weight") else 0.0))
            continue
        if name.rpartition(".")[2].startswith("weight"):
            fan_in = math.prod(shape[1:])
        rows.append((index, name, shape, "hash", 2.0 / math.sqrt(fan_in)))
    return rows


def parameter_value(rule):
    index, _, shape, kind, number = rule
    if kind == "constant":
        return np.full(shape, number, dtype=np.float32)
    return values(shape, index, number)
