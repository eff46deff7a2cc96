#!/usr/bin/env python3
"""Tests of load_compare.py and of load_worker: python3 -m unittest load_compare_test"""

import contextlib
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import load_compare  # noqa: E402

# Stands for either side. Reading takes REPLY, mapping a tenth of it; with ERROR it refuses all.
FAKE = """#!{python}
import json, sys
REPLY, ERROR = {settings!r}
for line in sys.stdin:
    command = json.loads(line)
    if ERROR:
        reply = {{"error": ERROR}}
    elif command["cmd"] == "version":
        reply = {{"version": "fake"}}
    elif command["cmd"] == "make":
        reply = {{name: name for name in ("safetensors", "torch", "numpy")}}
    else:
        reply = dict(REPLY, load_ms=REPLY["load_ms"] / (10 if command["map"] else 1))
    print(json.dumps(reply), flush=True)
"""


class FakeSidesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def fake(self, name, load_ms=1.0, total=5.0, error=""):
        path = os.path.join(self.folder, name)
        reply = {"load_ms": load_ms, "touch_ms": 1.0, "tensors": 2, "sum": total}
        with open(path, "w", encoding="utf-8") as script:
            script.write(FAKE.format(python=sys.executable, settings=(reply, error)))
        os.chmod(path, 0o755)
        return path

    def compare(self, firn, peer):
        """Runs main() with two fakes; returns (exit code, printed text, JSON document)."""
        out, text = os.path.join(self.folder, "out.json"), io.StringIO()
        with contextlib.redirect_stdout(text):
            code = load_compare.main([f"--firn={firn}", f"--python={peer}", f"--json={out}",
                                      "--rounds=2"])
        document = None
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                document = json.load(file)
        return code, text.getvalue(), document

    def test_ratios_are_firns_time_over_the_others(self):
        code, text, document = self.compare(self.fake("firn", 3.0), self.fake("peer", 6.0))
        self.assertEqual(code, 0, text)
        rows = {row["case"]: row for row in document["rows"]}
        self.assertEqual(list(rows), list(load_compare.CASES))
        self.assertAlmostEqual(rows[".pt"]["load"]["ratio"], 0.5)
        self.assertAlmostEqual(rows[".pt"]["used"]["ratio"], 4 / 7)
        self.assertIn("0.50 (0.50..0.50)", text)

    def test_sides_that_read_other_numbers_are_no_comparison(self):
        code, text, _ = self.compare(self.fake("firn"), self.fake("peer", total=6.0))
        self.assertEqual(code, 1)
        self.assertIn("safetensors, mapped: Firn read", text)

    def test_a_side_that_is_missing_is_named(self):
        code, text, _ = self.compare(self.fake("firn"), self.fake("peer", error="no torch"))
        self.assertEqual(code, 1)
        self.assertIn("no torch", text)
        self.assertIn("--python", text)


class LoadWorkerTest(unittest.TestCase):

    def answers(self, *commands):
        worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load_worker")
        lines = "\n".join(json.dumps(command) for command in commands)
        done = subprocess.run([worker], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_reads_and_looks_at_a_number_of_each_page(self):
        numbers = [1.0] + [100.0] * 1023 + [2.0]
        header = json.dumps({"w": {"dtype": "F32", "shape": [1025],
                                   "data_offsets": [0, 4100]}}).encode()
        header += b" " * (-len(header) % 8)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.safetensors")
            with open(path, "wb") as file:
                file.write(struct.pack("<Q", len(header)) + header + struct.pack("<1025f", *numbers))
            replies = self.answers({"cmd": "load", "file": path, "map": 1},
                                   {"cmd": "load", "file": path, "clock": "cpu"},
                                   {"cmd": "load", "file": path + "x"})
        for reply in replies[:2]:
            self.assertEqual((reply["tensors"], reply["sum"]), (1, 3.0))
            self.assertGreaterEqual(reply["load_ms"], 0)
        self.assertIn("w.safetensorsx", replies[2]["error"])


if __name__ == "__main__":
    unittest.main()
