#!/usr/bin/env python3
"""Firn reads files of torch.save as torch.load(weights_only=True) does, both whole files and files with small changes,
which are the same in every run. What both read is equal, also in Firn's own files. Firn accepts no changed file that
PyTorch refuses except those named below. Skipped where Python has no torch:

    bazel build //tests/io/torch:torch_files
    VENV/bin/python tests/io/torch/torch_python_test.py bazel-bin/tests/io/torch/torch_files
"""

import io
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
import zipfile

try:
    import torch
except ImportError:
    torch = None

FILES = sys.argv.pop(1)
CHANGES = 300  # of each file
# Files that PyTorch takes and Firn does not: damage for which PyTorch does not look, and objects
# that Firn cannot use.
STRICTER = re.compile(r"checksum|little-endian machine|hooks: expected|lie outside the file|expected a storage .*, got none|as in the directory|two members overlap|expected (one|the end|no more|a new one)|zip64|"
                      r"twice|as before|is not read|local header|data descriptor|directory|end record|"
                      r"expected one value at the end|class, key and size|byteorder|inside the storage|limits\.|"
                      r"expected keys of storages|expected different keys|in a folder|all members in the folder")

# Files that Firn takes and PyTorch does not. They have unknown devices, at which Firn does not look, classes in objects
# that are not tensors, attributes of dicts, or names of ZIP members that are not UTF-8.
LAXER = re.compile(r"restore data location|device module|Unsupported global|unhashable|codec can't decode")


def saved(value, **options):
    out = io.BytesIO()
    torch.save(value, out, **options)
    return out.getvalue()


def whole_files():
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Conv2d(2, 3, 3))
    adam = torch.optim.Adam(net.parameters())
    net[0](torch.ones(2, 3)).sum().backward()
    adam.step()
    x = torch.arange(12.).reshape(3, 4)
    views = {"x": x, "tied": x, "turned": x.t(), "row": x[1], "column": x[:, 1], "steps": x[::2], "none": x[:0]}
    dtypes = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32,
              torch.int64, torch.uint8, torch.bool, torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn,
              torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
    kinds = {str(dtype): torch.tensor([[0.0, 1.0], [100.0, 7.0]]).to(dtype) for dtype in dtypes}
    old = {"_use_new_zipfile_serialization": False}
    return {
        "state": saved(net.state_dict()), "state_old": saved(net.state_dict(), **old),
        "views": saved(views), "views_old": saved(views, **old), "kinds": saved(kinds),
        "checkpoint": saved({"model": net.state_dict(), "optimizer": adam.state_dict(), "epoch": 3,
                             "list": [torch.ones(2), (torch.zeros(0, 3), None)], "name": "x"}),
        "parameter": saved({"p": torch.nn.Parameter(x)}),
    }


def flat(value, path=""):
    """{path: tensor} of what was saved, as Firn calls them."""
    if isinstance(value, torch.Tensor):
        return {path or "tensor": value.detach()}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else []
    found = {}
    for name, item in items:
        found.update(flat(item, f"{path}.{name}" if path else str(name)))
    return found


def why(data):
    """In PyTorch's words."""
    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except Exception as error:  # of many kinds
        return " ".join(str(error).split())
    return ""


def read(data):
    """What PyTorch makes of a file; None where it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return flat(torch.load(io.BytesIO(data), weights_only=True))
    except Exception:  # of many kinds
        return None


def changed(data, seed):
    """A small change: a bit, a byte, a cut, or one of these inside the pickle, with its checksum mended."""
    draw = random.Random(seed)
    if data.startswith(b"PK") and draw.random() < 0.6:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            for member in old.infolist():
                piece = old.read(member)
                new.writestr(member.filename, changed(piece, seed) if member.filename.endswith("data.pkl") else piece)
        return out.getvalue()
    out = bytearray(data)
    at = draw.randrange(len(out))
    kind = draw.randrange(5)
    if kind < 2:
        out[at] ^= 1 << draw.randrange(8)
    elif kind == 2:
        out[at] = draw.choice(b"\0\1\x7f\xff(.)tuebqhKMJR")
    elif kind == 3:
        del out[at:at + draw.randrange(1, 20)]
    else:
        out[at:at] = out[at:at + draw.randrange(1, 20)]
    return bytes(out)


@unittest.skipIf(torch is None, "this Python has no torch")
class TorchPythonTest(unittest.TestCase):

    def run_on(self, folder, files):
        """{name: what Firn says} of {name: bytes}."""
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        lines = subprocess.run([FILES], input="".join(os.path.join(folder, name) + "\n" for name in files),
                               capture_output=True, check=True, text=True).stdout.splitlines()
        self.assertEqual(len(lines), len(files))
        return dict(zip(files, lines))

    def compare(self, expected, path, what):
        with open(path, "rb") as file:
            found = read(file.read())
        self.assertIsNotNone(found, what)
        self.assertEqual(list(found), list(expected), what)
        for name, tensor in expected.items():
            self.assertEqual(found[name].shape, tensor.shape, (what, name))
            a, b = found[name].to(torch.float64), tensor.to(torch.float64)
            self.assertTrue(torch.equal(torch.nan_to_num(a, nan=-77.0), torch.nan_to_num(b, nan=-77.0)), (what, name))

    def test_reads_what_pytorch_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = whole_files()
            for name, line in self.run_on(folder, whole).items():
                self.assertTrue(line.startswith("OK"), line)
                self.compare(read(whole[name]), os.path.join(folder, name) + ".firn.pt", name)

    def test_changed_files(self):
        both = 0
        with tempfile.TemporaryDirectory() as folder:
            files = {f"{name}_{seed}": changed(data, seed)
                     for name, data in whole_files().items() for seed in range(CHANGES)}
            for name, line in self.run_on(folder, files).items():
                expected = read(files[name])
                if line.startswith("ERROR"):
                    if expected is not None:
                        self.assertRegex(line, STRICTER, name)
                    continue
                if expected is None:
                    self.assertRegex(why(files[name]), LAXER, name)
                    continue
                self.compare(expected, os.path.join(folder, name) + ".firn.pt", name)
                both += 1
        self.assertGreater(both, 100)


if __name__ == "__main__":
    unittest.main()
