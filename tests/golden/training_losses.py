"""Ten training losses of each benchmark model, in float32 and float64, and how to redo them.

The recipe (parameters, batches, optimizer) is in the file itself; the numbers come from the integer
hash of benchmarks/peers/hash_values.py. The float64 column starts from the same float32 parameters
and inputs. Where the columns differ more, float32 rounding has grown, and a test's tolerance must grow too.
"""

import os

import torch
from torch.nn import functional as F

import vector_format  # noqa: F401  (puts benchmarks/peers on the path)
import hash_values
import torch_models

STEPS = 10
MODELS = {"mlp": (16, ("sgd", "momentum", "adam")), "lenet": (16, ("sgd", "momentum", "adam")),
          "resnet": (8, ("adam",)), "deep_cnn": (8, ("adam",))}
DEPTH = 3
OPTIMIZERS = {"sgd": "lr 0.05", "momentum": "lr 0.01 momentum 0.9", "adam": "lr 0.001"}
HEAD = """\
# Format: ../README.md. Hash (64-bit, wrapping): splitmix64(x): x += 0x9E3779B97F4A7C15;
#   x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9; x = (x ^ x >> 27) * 0x94D049BB133111EB;
#   return x ^ x >> 31.  h(i, salt) = splitmix64(salt * 2^32 + i)
# value(i, salt) = float(((h(i, salt) >> 40) / 2^24 - 0.5) * scale), computed in double
# param <salt> <name> <shape> hash <scale> | constant <number>
# batch <step> <salt of the inputs> <salt of the labels>; label(i, salt) = h(i, salt) % 10
# run <optimizer> <options>; loss <step> <in float32> <in float64>""".splitlines()


def train(name, batch_size, optimizer_name, dtype):
    model = torch_models.build(name, DEPTH).to(dtype).train()
    optimizer = torch_models.make_optimizer(optimizer_name, model.parameters())
    found = []
    for step in range(STEPS):
        x, y = hash_values.batch(step, batch_size, model.input_shape)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(torch.from_numpy(x).to(dtype)), torch.from_numpy(y))
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def recipe(name, batch_size):
    model = torch_models.build(name, DEPTH)
    lines = [f"model {name}"] + ([f"depth {DEPTH}"] if name == "deep_cnn" else [])
    lines += [f"batch_size {batch_size}", "input_shape " + "x".join(map(str, model.input_shape)),
              f"input_scale {hash_values.INPUT_SCALE!r}"]
    for index, parameter, shape, kind, number in torch_models.rules(model):
        lines.append(f"param {index} {parameter} {'x'.join(map(str, shape))} {kind} {number!r}")
    for step in range(STEPS):
        turn = step % hash_values.BATCHES
        salts = hash_values.INPUT_SALT + turn, hash_values.LABEL_SALT + turn
        lines.append(f"batch {step} {salts[0]} {salts[1]}")
    return lines


def write(folder):
    os.makedirs(folder, exist_ok=True)
    total = 0
    for name, (batch_size, optimizers) in MODELS.items():
        version = torch.__version__.split("+")[0]
        lines = [f"# Training losses of {name} by PyTorch {version}", *HEAD]
        lines += recipe(name, batch_size)
        for optimizer in optimizers:
            lines.append(f"run {optimizer} {OPTIMIZERS[optimizer]}")
            columns = [train(name, batch_size, optimizer, dtype)
                       for dtype in (torch.float32, torch.float64)]
            lines += [f"loss {step} {a!r} {b!r}" for step, (a, b) in enumerate(zip(*columns))]
            lines.append("end")
        text = "\n".join(lines) + "\n"
        with open(os.path.join(folder, name + ".txt"), "w", encoding="ascii") as out:
            out.write(text)
        total += len(text)
    return total
