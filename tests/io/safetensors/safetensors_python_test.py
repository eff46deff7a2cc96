#!/usr/bin/env python3
"""Firn reads files as the reference library does, both whole files and files with small changes, which are the same
in every run. Firn accepts no file that the library refuses. What both accept, Firn reads and writes again with the same
names, shapes and values. Each class of files that only Firn refuses is named below. Skipped where Python has no
safetensors:

    python -m venv VENV && VENV/bin/pip install safetensors
    bazel build //tests/io/safetensors:safetensors_files
    VENV/bin/python tests/io/safetensors/safetensors_python_test.py \\
        bazel-bin/tests/io/safetensors/safetensors_files
"""

import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import safetensors
except ImportError:
    safetensors = None

FILES = sys.argv.pop(1)
CHANGES = 1500  # of each file
# Files that the reference takes and Firn does not, by Firn's messages.
STRICTER = re.compile(r"shape: expected at most 8|is not read|"
                      r"no zero byte|got an empty one|expected 0 or 1|elements beyond|expected an object, got null|"
                      r"shape \[[\d, ]+\] overflows|limits\.max_name_bytes")
WIDER = {"I16": ("h", "q"), "U16": ("H", "q"), "U32": ("I", "q"), "U64": ("Q", "q")}
OWN = {"I32": "i", "I64": "q"}


def built(entries, metadata=None, order=None, pad=True):
    """A file of [(name, dtype, shape, bytes)]."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, stored in entries:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header, ensure_ascii=order is None, separators=(",", ":")).encode()
    if pad:
        text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def whole_files():
    draw = random.Random(1)
    numbers = bytes(draw.randrange(256) for _ in range(64))
    return [
        built([("a", "F32", [2, 2], numbers[:16]), ("b.weight", "BF16", [3], numbers[:6]),
               ("flags", "BOOL", [2], b"\0\1"), ("i", "I64", [], numbers[:8])], {"format": "pt"}),
        built([("\u00e9\n\"", "U8", [1, 3], b"abc"), ("odd", "F64", [1], numbers[:8]), ("none", "F16", [0, 4], b"")],
              order=True, pad=False),
        built([("s", "I16", [2], b"\xff\xff\1\0"), ("u", "U16", [1], b"\xff\xff"), ("v", "U32", [1], b"\xff" * 4),
               ("w", "U64", [1], b"\1" + b"\0" * 6 + b"\x7f"), ("x", "I8", [2], b"\x80\x7f")]),
        built([]),
    ]


def changed(data, seed):
    """A small change, mostly of the header: its length, a byte, a digit, a piece twice, a cut."""
    draw = random.Random(seed)
    out = bytearray(data)
    end = 8 + struct.unpack("<Q", data[:8])[0]
    at = draw.randrange(8, max(end, 9))
    kind = draw.randrange(8)
    if kind == 0:
        out[draw.randrange(8)] ^= 1 << draw.randrange(8)
    elif kind == 1:
        out[min(at, len(out) - 1)] ^= 1 << draw.randrange(8)
    elif kind == 2:
        out[min(at, len(out) - 1)] = draw.choice(b'0123456789"{}[],:.-e \\u')
    elif kind == 3:
        digits = [m.start() for m in re.finditer(rb"\d", data[8:end])]
        if digits:
            out[8 + draw.choice(digits)] = draw.choice(b"0123456789")
    elif kind == 4:
        del out[draw.randrange(len(out)):]
    elif kind == 5:
        out.append(draw.randrange(256))
    elif kind == 6:  # a piece of the header once more, and a length to go with it
        piece = out[at:min(end, at + draw.randrange(1, 80))]
        out[at:at] = piece
        out[:8] = struct.pack("<Q", end - 8 + len(piece))
    else:
        out[draw.randrange(len(out))] = draw.choice([0, 1, 2, 127, 128, 255])
    return bytes(out)


def reference(data):
    """{name: (dtype, shape, bytes)}, or None where the reference refuses."""
    try:
        return {name: (e["dtype"], list(e["shape"]), bytes(e["data"])) for name, e in safetensors.deserialize(data)}
    except Exception:  # of several kinds
        return None


def has_twins(data):
    """Whether a name stands twice in an object of the header: the reference takes the last."""
    found = []
    json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]],
               object_pairs_hook=lambda pairs: found.append(len(pairs) != len(dict(pairs))))
    return any(found)


def numbers(dtype, data):
    code = OWN.get(dtype) or WIDER[dtype][0]
    return [v[0] for v in struct.iter_unpack("<" + code, data)]


@unittest.skipIf(safetensors is None, "this Python has no safetensors")
class SafetensorsPythonTest(unittest.TestCase):

    def test_reads_what_the_reference_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for i, whole in enumerate(whole_files()):
                for seed in range(CHANGES + 1):
                    path = os.path.join(folder, f"{i}_{seed}")
                    files[path] = whole if seed == 0 else changed(whole, seed)
                    with open(path, "wb") as file:
                        file.write(files[path])
            lines = subprocess.run([FILES], input="\n".join(files) + "\n", capture_output=True, check=True,
                                   text=True).stdout.splitlines()
            self.assertEqual(len(lines), len(files))
            both = 0
            for line, (path, data) in zip(lines, files.items()):
                expected = reference(data)
                if line.startswith("ERROR"):
                    self.assertFalse(path.endswith("_0"), line)
                    if expected is not None and not has_twins(data):
                        self.assertRegex(line, STRICTER, data)
                    continue
                self.assertIsNotNone(expected, (line, data))
                with open(path + ".firn", "rb") as file:
                    found = reference(file.read())
                self.compare(found, expected, data)
                both += 1
            self.assertGreater(both, 200)

    def compare(self, found, expected, data):
        self.assertEqual(sorted(found), sorted(expected), data)
        for name, (dtype, shape, stored) in expected.items():
            self.assertEqual(found[name][1], shape, (name, data))
            if found[name][0] == dtype:
                self.assertEqual(found[name][2], stored, (name, data))
            elif dtype in WIDER:
                self.assertEqual(numbers(found[name][0], found[name][2]), numbers(dtype, stored), (name, data))
            else:
                self.assertTrue(dtype.startswith("F8"), (dtype, data))


if __name__ == "__main__":
    unittest.main()
