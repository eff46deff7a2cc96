#!/usr/bin/env python3
"""Writes the reference vectors of this folder with PyTorch: see README.md.

  python3 tests/golden/make_vectors.py [ops] [layers] [optim] [schedules] [losses]    (default: all)

Rerun it after adding a case and commit what changed. Cases of operations that Firn does not have
yet wait until one is defined in tensor/ops. The inputs are hashed, not drawn, so the same
PyTorch gives the same files on any machine of the same kind.
"""

import glob
import os
import re
import sys

import torch

from cases import (attention, elementwise, layer_classes, layers, linalg, loss_layers, losses,
                   more_layers, norms, quantize, rearrange, recurrent, reduction, schedules, shape,
                   signal, updates, vision)
import training_losses
import vector_format

HERE = os.path.dirname(os.path.abspath(__file__))


def write_cases(folder, parts, wanted=lambda name: True):
    vectors = vector_format.Vectors()
    for part in parts:
        vectors.add(part)
    return vectors.write(os.path.join(HERE, folder), wanted)


def declared_operations():
    """A function that tells whether tensor/ops has the operation or the function of that name."""
    def found(pattern, files):
        names = set()
        for path in glob.glob(os.path.join(HERE, "..", "..", "tensor", "ops", "*", files)):
            with open(path, encoding="utf-8") as file:
                names.update(re.findall(pattern, file.read(), re.MULTILINE))
        return names

    functions = found(r"^(?:inline )?[\w:<>]+ ([A-Z]\w*)\(", "*.h")
    operations = found(r"^FIRN_REGISTER_OP\((\w+)\)", "*.cc")
    # Polygamma's numbers are mpmath's (README.md): its cases only run here.
    return lambda name: name != "polygamma" and (
        name in operations or "".join(map(str.capitalize, name.split("_"))) in functions)


def operation_parts():
    """The functions part(vectors) with the cases of all operations."""
    families = (elementwise, reduction, layers, norms, linalg, losses, shape, rearrange, quantize,
                signal, recurrent, attention, vision)
    return [part for family in families for part in family.PARTS] + list(updates.STEPS)


def write_ops():
    return write_cases("ops", operation_parts(), declared_operations())


def write_losses():
    return training_losses.write(os.path.join(HERE, "losses"))


PARTS = {
    "ops": write_ops,
    "layers": lambda: write_cases("layers", layer_classes.PARTS + loss_layers.PARTS +
                                  more_layers.PARTS + linalg.LAYERS + recurrent.LAYERS +
                                  attention.LAYER_PARTS + vision.LAYERS +
                                  quantize.LAYERS),
    "optim": lambda: write_cases("optim", updates.TRAJECTORIES),
    "schedules": lambda: write_cases("schedules", schedules.PARTS),
    "losses": write_losses,
}


def main(names):
    torch.set_num_threads(1)  # one order of summation
    for name in names or PARTS:
        print(f"{name}: {PARTS[name]()} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
