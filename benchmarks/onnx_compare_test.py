#!/usr/bin/env python3
"""Tests of onnx_compare.py and of onnx_worker: python3 -m unittest onnx_compare_test"""

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
import onnx_compare  # noqa: E402

# Stands for either worker. Runs take MS[network]; ERRORS maps "cmd network" to why it is refused.
FAKE = """#!{python}
import json, sys
nan = float("nan")
MS, GAPS, ERRORS = {settings!r}
network = ""
for line in sys.stdin:
    command = json.loads(line)
    name = command["cmd"]
    if name == "version":
        print('{{"version": "fake"}}', flush=True)
        continue
    network = command.get("network") or command.get("model") or network
    reply = {{
        "export": {{"model": network, "input": "x.npy", "truth": "y.npy", "off": 3e-7}},
        "setup": {{"ok": True, "ms": MS.get(network, 1.0)}},
        "difference": {{"difference": GAPS.get(network, 0.0), "off": 1e-7, "own_off": 2e-7}},
        "block": {{"ms": [MS.get(network, 1.0)] * command.get("calls", 0)}},
        "profile": {{"table": "where it goes"}},
    }}[name]
    if f"{{name}} {{network}}" in ERRORS:
        reply = {{"error": ERRORS[f"{{name}} {{network}}"]}}
    print(json.dumps(reply), flush=True)
"""


class FakeWorkerTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def fake(self, name, ms=None, gaps=None, errors=None):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as script:
            script.write(FAKE.format(python=sys.executable,
                                     settings=(ms or {}, gaps or {}, errors or {})))
        os.chmod(path, 0o755)
        return path

    def compare(self, firn, peer, *extra):
        """Runs main() with two fakes; returns (exit code, printed text, JSON document)."""
        out, text = os.path.join(self.folder, "out.json"), io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
            code = onnx_compare.main([f"--firn={firn}", f"--python={peer}", f"--json={out}",
                                      "--block-seconds=0.01", *extra])
        document = None
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                document = json.load(file)
        return code, text.getvalue(), document

    def test_rows_hold_what_the_workers_reported(self):
        code, text, document = self.compare(
            self.fake("firn", {"resnet18": 2.0, "swin_t": 3.0}),
            self.fake("peer", {"resnet18": 4.0, "swin_t": 1.0}, {"swin_t": 2e-5}),
            "--networks=resnet18,swin_t")
        self.assertEqual(code, 0)
        self.assertEqual([(row["network"], row["firn_ms"], row["peer_ms"], row["ratio"],
                           row["difference"]) for row in document["rows"]],
                         [("resnet18", 2.0, 4.0, 0.5, 0.0), ("swin_t", 3.0, 1.0, 3.0, 2e-5)])
        self.assertEqual(document["rows"][0]["off"], {"firn": 1e-7, "peer": 2e-7, "torch": 3e-7})
        self.assertIn("1.0e-07  2.0e-07  3.0e-07", text)
        self.assertEqual(document["machine"]["versions"], {"version": "fake"})
        self.assertIn("0.50 (0.50..0.50)", text)
        self.assertEqual([line.endswith("too far apart") for line in text.splitlines()
                          if line.startswith(("resnet18", "swin_t"))], [False, True])

    def test_results_that_are_no_numbers_are_far_apart(self):
        code, text, _ = self.compare(self.fake("firn"), self.fake("peer", gaps={"swin_t": float("nan")}),
                                     "--networks=swin_t")
        self.assertEqual(code, 0)
        self.assertIn("too far apart", text)

    def test_a_network_that_is_refused_is_named_and_the_others_are_timed(self):
        code, text, document = self.compare(
            self.fake("firn", errors={"setup resnet18": "has no such operator"}),
            self.fake("peer"), "--networks=resnet18,swin_t", "--profile")
        self.assertEqual(code, 0)
        self.assertEqual([row["network"] for row in document["rows"]], ["swin_t"])
        self.assertIn("skipped: resnet18: has no such operator", text)
        self.assertIn("where it goes", text)

    def test_says_which_python_it_wants(self):
        code, text, document = self.compare(self.fake("firn"), "/nowhere/python")
        self.assertEqual((code, document), (1, None))
        self.assertIn("must be able to import onnxruntime", text)


def field(number, value):
    """A field of a protobuf message: a small number, a text or a message."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def relu_model():
    """An ONNX file of y = Relu(x), f32 [2, 3]."""
    def port(name):
        shape = b"".join(field(1, field(1, size)) for size in (2, 3))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))
    node = field(1, "x") + field(2, "y") + field(4, "Relu")
    graph = field(1, node) + field(2, "g") + field(11, port("x")) + field(12, port("y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def npy(values):
    """A .npy file of f32 [2, 3]."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() +
            struct.pack("<6f", *values))


class OnnxWorkerTest(unittest.TestCase):
    """Against the real worker, which Bazel puts beside this file."""

    # FIRN_ONNX_WORKER: the path of onnx_worker where Bazel has not put it beside the test.
    WORKER = os.environ.get("FIRN_ONNX_WORKER") or os.path.join(
        os.path.dirname(os.path.abspath(sys.argv[0])), "onnx_worker")

    def answers(self, *commands):
        done = subprocess.run([self.WORKER], input="\n".join(map(json.dumps, commands)) + "\n",
                              capture_output=True, text=True, timeout=60, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_runs_a_model_and_times_it(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: os.path.join(folder, name) for name in ("model", "input", "result")}
            for name, content in (("model", relu_model()), ("input", npy([-1, 2, -3, 4, -5, 6]))):
                with open(paths[name], "wb") as out:
                    out.write(content)
            ready, block, profile = self.answers(
                {"cmd": "setup", **paths, "threads": 1},
                {"cmd": "block", "calls": 3, "clock": "cpu"}, {"cmd": "profile", "calls": 2})
            with open(paths["result"], "rb") as result:
                numbers = struct.unpack("<6f", result.read()[-24:])
        self.assertTrue(ready.get("ok"), ready)
        self.assertEqual(numbers, (0, 2, 0, 4, 0, 6))
        self.assertEqual(len(block["ms"]), 3)
        self.assertIn("relu", profile["table"])

    def test_refuses_what_makes_no_sense(self):
        early, unknown, missing = self.answers(
            {"cmd": "block", "calls": 1}, {"cmd": "dance"},
            {"cmd": "setup", "model": "/nowhere.onnx", "input": "x.npy", "result": "y.npy"})
        self.assertIn("comes before 'setup'", early["error"])
        self.assertIn("unknown command 'dance'", unknown["error"])
        self.assertIn("/nowhere.onnx", missing["error"])


if __name__ == "__main__":
    unittest.main()
