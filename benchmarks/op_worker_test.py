#!/usr/bin/env python3
"""Tests of op_worker, the worker that times Firn's operations for op_compare.py."""

import json
import os
import subprocess
import sys
import tempfile
import unittest


class OpWorkerTest(unittest.TestCase):
    """Against the real worker, which Bazel puts beside this file."""

    # FIRN_OP_WORKER: the path of op_worker where Bazel has not put it beside the test.
    WORKER = os.environ.get("FIRN_OP_WORKER") or os.path.join(
        os.path.dirname(os.path.abspath(sys.argv[0])), "op_worker")
    CASE = {"operation": "cross_entropy", "case": "64x10"}

    def answers(self, *commands):
        done = subprocess.run([self.WORKER], input="\n".join(map(json.dumps, commands)) + "\n",
                              capture_output=True, text=True, timeout=60, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_describes_a_case(self):
        with tempfile.TemporaryDirectory() as folder:
            told, call = self.answers({"cmd": "list"},
                                      {"cmd": "describe", **self.CASE, "folder": folder})
            files = [os.path.getsize(one["file"]) for one in call["inputs"]]
        cases = {one["operation"]: one["cases"] for one in told["operations"]}
        self.assertIn("64x10", cases["cross_entropy"])
        self.assertEqual([one["shape"] for one in call["inputs"]], [[64, 10], [64]])
        self.assertEqual([one["dtype"] for one in call["inputs"]], ["f64", "i64"])
        self.assertEqual([one["wanted"] for one in call["inputs"]], [True, False])
        self.assertEqual(files, [64 * 10 * 8, 64 * 8])
        self.assertEqual((call["attrs"], call["defaults"]["reduction"]), ({}, "mean"))
        self.assertEqual(call["dtypes"], ["f32", "f64", "bf16", "f16"])

    def test_inputs_that_repeat_are_written_once(self):
        with tempfile.TemporaryDirectory() as folder:
            (call,) = self.answers(
                {"cmd": "describe", "operation": "exp", "case": "4M", "folder": folder})
            self.assertEqual(os.path.getsize(call["inputs"][0]["file"]), 65521 * 8)

    def test_times_both_passes(self):
        setup = {"cmd": "setup", **self.CASE, "dtype": "f32", "layout": "transposed", "threads": 1,
                 "device": "cpu"}
        block = {"cmd": "block", "calls": 5}
        forward, times, backward, back_times = self.answers(
            {**setup, "pass": "forward"}, block, {**setup, "pass": "backward"}, block)
        (loss,) = forward["results"]
        self.assertEqual((loss["shape"], loss["finite"]), ([], 1))
        self.assertGreater(loss["mean"], 1.0)
        (gradient,) = backward["results"]
        self.assertEqual((gradient["shape"], gradient["finite"]), ([64, 10], 640))
        # A row of softmax minus its label's 1 sums to 0, and so do all rows; the seed of a loss is
        # -3/4.
        self.assertLess(abs(gradient["mean"]), 1e-6)
        for reply in (times, back_times):
            self.assertEqual(len(reply["ms"]), 5)
            self.assertGreater(min(reply["ms"]), 0)

    def test_answers_a_mistake_with_an_error(self):
        setup = {"cmd": "setup", **self.CASE, "dtype": "f32", "layout": "contiguous",
                 "pass": "forward", "threads": 1, "device": "cpu"}
        for command, words in (
                ({"cmd": "dance"}, "unknown command 'dance'"),
                ({"cmd": "block", "calls": 1}, "'block' comes before 'setup'"),
                ({**setup, "operation": "dance"}, "'dance' has no large sample"),
                ({**setup, "case": "tiny"}, "has no large sample 'tiny', only: "),
                ({**setup, "dtype": "i64"}, "the case does not take i64"),
                ({**setup, "layout": "round"}, "no layout 'round'"),
                ({**setup, "pass": "up"}, "unknown pass 'up'"),
                ({**setup, "device": "moon"}, 'device: got "moon"'),
        ):
            (reply,) = self.answers(command)
            self.assertIn(words, reply["error"])


if __name__ == "__main__":
    unittest.main()
