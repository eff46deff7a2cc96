"""Runs one operation in PyTorch and writes its case in the text format of README.md.

float32 inputs are computed in float64 and the results rounded to float32, so a vector is correct to
the last bit or nearly so, and a test's tolerance has to cover the tested code only.
"""

import os
import sys
import zlib

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "benchmarks", "peers"))
import hash_values  # noqa: E402

DTYPES = {torch.float32: "f32", torch.float64: "f32", torch.int64: "i64", torch.int32: "i32",
          torch.uint8: "u8", torch.bool: "bool", torch.bfloat16: "bf16", torch.float16: "f16"}


class Vectors:
    """Collects the cases of many operations and writes one file for each.

    Inputs are hashed from the operation, the case and how many that case has drawn before, so a case
    added anywhere leaves the numbers of all others. They are drawn before the case is named, so
    add() runs each part twice.
    """

    def __init__(self):
        self.texts = {}
        self._names = []      # of the cases of the part that is being added
        self._case = None     # how many of them are done; None while names are collected
        self._drawn = 0       # numbers drawn for the next case

    def add(self, part):
        """Adds the cases of a function part(vectors)."""
        self._names, self._case = [], None
        part(self)
        self._case, self._drawn = 0, 0
        part(self)
        assert self._case == len(self._names), f"{part} is not the same twice"

    def _salt(self):
        if self._case is None:
            return 0
        name = self._names[self._case] if self._case < len(self._names) else ""
        self._drawn += 1
        return zlib.crc32(f"{name}/{self._drawn}".encode())

    def values(self, *shape, scale=4.0):
        """Fresh float32 numbers in [-scale/2, scale/2) with three decimals."""
        rounded = np.round(hash_values.values(shape, self._salt(), scale), 3)
        return torch.from_numpy(np.asarray(rounded))

    def positive(self, *shape, low=0.1, high=3.0):
        numbers = self.values(*shape, scale=1.0).double() + 0.5
        return (numbers * (high - low) + low).mul(1000).round().div(1000).float()

    def integers(self, *shape, low=0, high=10):
        count = int(np.prod(shape, dtype=np.int64))
        drawn = hash_values.hashes(count, self._salt()) % np.uint64(high - low)
        return torch.from_numpy(np.asarray(drawn.astype(np.int64).reshape(shape) + low))

    def mask(self, *shape):
        return self.integers(*shape, high=2).bool()

    def case(self, op, name, function, attrs=None, wrt=None, **inputs):
        """Adds a case of `op`: function(**inputs, **attrs) and its gradients.

        inputs: tensors, or lists of tensors (written as arg.0, arg.1, ...), in argument order.
        attrs:  options, by Firn's names; an absent one has Firn's default.
        wrt:    names of the inputs to differentiate; default all float32 ones, [] for none.
        """
        if self._case is None:
            self._names.append(f"{op}/{name}")
            return
        assert self._names[self._case] == f"{op}/{name}", f"{op}/{name} is not the same twice"
        attrs = attrs or {}
        lines = [f"case {name}"]
        lines += [f"attr {key} {attribute_text(value)}" for key, value in attrs.items()]
        lines += [f"input {key} {tensor_text(value)}" for key, value in flat_items(inputs)]
        wanted = [key for key, value in flat_items(inputs) if value.dtype == torch.float32]
        if wrt is not None:
            wanted = [key for key in wanted if key in wrt or key.split(".")[0] in wrt]
        exact = {key: lift(value, key, wanted) for key, value in inputs.items()}
        outputs = named_outputs(function(**exact, **attrs))
        lines += [f"output {key} {tensor_text(value)}" for key, value in outputs]
        lines += self._gradient_lines(outputs, dict(flat_items(exact)), wanted)
        self.texts.setdefault(op, []).append("\n".join(lines + ["end"]))
        self._case, self._drawn = self._case + 1, 0

    def _gradient_lines(self, outputs, leaves, wanted):
        roots = [(i, value) for i, (_, value) in enumerate(outputs) if value.requires_grad]
        if not roots:
            return []
        lines, seeds = [], []
        for index, value in roots:
            seed = self.values(*value.shape, scale=2.0)
            lines.append(f"grad_output {index} {tensor_text(seed)}")
            seeds.append(seed.double())
        found = torch.autograd.grad([value for _, value in roots], [leaves[key] for key in wanted],
                                    seeds, allow_unused=True, materialize_grads=True)
        return lines + [f"grad {key} {tensor_text(grad)}" for key, grad in zip(wanted, found)]

    def write(self, folder, wanted):
        """Writes folder/<op>.txt for every operation that is wanted. Returns the bytes written."""
        os.makedirs(folder, exist_ok=True)
        total = 0
        for op, texts in self.texts.items():
            if not wanted(op):
                continue
            names = [text.split("\n", 1)[0] for text in texts]
            assert len(set(names)) == len(names), f"{op} has two cases of one name"
            text = (f"# {op}: computed by PyTorch {torch.__version__.split('+')[0]}, "
                    "see tests/golden/README.md\n" + "\n".join(texts) + "\n")
            with open(os.path.join(folder, op + ".txt"), "w", encoding="ascii") as out:
                out.write(text)
            total += len(text)
        return total


def flat_items(inputs):
    for key, value in inputs.items():
        if isinstance(value, (list, tuple)):
            yield from ((f"{key}.{i}", item) for i, item in enumerate(value))
        else:
            yield key, value


def lift(value, key, wanted):
    """A float64 leaf for a float32 input; anything else unchanged."""
    if isinstance(value, (list, tuple)):
        return [lift(item, f"{key}.{i}", wanted) for i, item in enumerate(value)]
    if value.dtype != torch.float32:
        return value
    return value.double().requires_grad_(key in wanted)


def named_outputs(result):
    """[(name, tensor)]: y; a dict's keys; a struct's fields (values, indices); y.0, ..."""
    if isinstance(result, torch.Tensor):
        return [("y", result)]
    if isinstance(result, dict):
        return list(result.items())
    if type(result).__module__ == "torch.return_types":
        return list(zip(type(result).__match_args__, result))
    return [(f"y.{i}", value) for i, value in enumerate(result)]


def number_text(value):
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)):
        return str(value)
    text = str(value)  # numpy: the shortest text that reads back as the same float32
    return text[:-2] if text.endswith(".0") else text


def tensor_text(tensor):
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    dtype = DTYPES[tensor.dtype]
    flat = tensor.detach().reshape(-1)
    flat = flat.float() if flat.is_floating_point() else flat
    return " ".join([dtype, shape, *map(number_text, flat.numpy())])


def attribute_text(value):
    if isinstance(value, bool):
        return f"bool {int(value)}"
    if isinstance(value, int):
        return f"int {value}"
    if isinstance(value, float):
        return f"float {value!r}"
    if isinstance(value, str):
        return f"string {value}"
    kind = "floats" if any(isinstance(number, float) for number in value) else "ints"
    return " ".join([kind, *map(str, value)])
