#!/usr/bin/env python3
"""Runs static_vs_dynamic with tiny sizes and reads what it writes; Bazel puts it beside this file."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
PROGRAM = os.path.join(HERE, "static_vs_dynamic")
TINY = ["--quick", "--rounds=2", "--steps=2", "--threads=1"]


def run(*arguments, program=PROGRAM):
    environment = {key: value for key, value in os.environ.items()
                   if key != "BUILD_WORKING_DIRECTORY"}
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300,
                          check=False, env=environment)


class StaticVsDynamicTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            rows, plot = os.path.join(folder, "rows.json"), os.path.join(folder, "plot.svg")
            cls.done = run("--workloads=deep_cnn/d1/b4,lenet/b2,mlp,changing_cnn/d3/b2",
                           f"--json={rows}", f"--plot={plot}", *TINY)
            if cls.done.returncode != 0:
                raise AssertionError(cls.done.stderr)
            with open(rows, encoding="utf-8") as file:
                cls.document = json.load(file)
            cls.plot = xml.etree.ElementTree.parse(plot).getroot()

    def test_has_a_row_for_each_mode_that_can_run(self):
        self.assertEqual(
            [(compare.label(row), row["mode"]) for row in self.document["rows"]],
            [("deep_cnn/d1/b4", "dynamic"), ("deep_cnn/d1/b4", "static"), ("lenet/b2", "dynamic"),
             ("lenet/b2", "static"), ("mlp/b1", "dynamic"), ("mlp/b1", "static"),
             ("changing_cnn/d3/b2", "dynamic")])

    def test_rows_have_the_form_of_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            with contextlib.redirect_stdout(io.StringIO()), \
                    contextlib.redirect_stderr(io.StringIO()):
                compare.main(["--workloads=mlp/b1", "--quick", "--rounds=1", "--threads=1",
                              "--modes=firn/dynamic", "--json=" + path,
                              "--firn=" + os.path.join(HERE, "train_worker")])
            with open(path, encoding="utf-8") as file:
                expected = json.load(file)
        (like,) = expected["rows"]
        for row in self.document["rows"]:
            self.assertEqual(list(row), list(like))
            self.assertEqual((row["device"], row["precision"]), ("cpu", "f32"))
            for key, value in like.items():
                self.assertIsInstance(row[key], (int, float) if isinstance(value, float) else
                                      type(value), key)
        self.assertLessEqual(set(self.document["machine"]), set(expected["machine"]))
        self.assertEqual(self.document["machine"]["simd"], expected["machine"]["simd"])
        self.assertEqual(self.document["machine"]["cpu"], expected["machine"]["cpu"])

    def test_numbers_are_measured(self):
        for row in self.document["rows"]:
            self.assertGreater(row["median_ms"], 0)
            self.assertGreaterEqual(row["median_ms"], row["min_ms"])
            self.assertGreater(row["peak_mb"], 0)
            self.assertGreater(row["wall_ms"], 0)
            self.assertEqual(row["threads"], 1)
        for comparison in self.document["comparisons"]:
            self.assertGreater(comparison["capture_ms"], 0)
            self.assertGreater(comparison["compile_ms"], 0)
            self.assertGreater(comparison["capture_peak_mb"], 0)
            self.assertLessEqual(comparison["ratio_low"], comparison["ratio_high"])
            self.assertEqual(len(comparison["losses"]), 5)

    def test_both_modes_train_alike(self):
        self.assertEqual(len(self.document["comparisons"]), 3)
        for comparison in self.document["comparisons"]:
            self.assertLess(comparison["loss_gap"], 1e-5, comparison)

    def test_table_has_a_line_for_each_configuration(self):
        title, *lines = self.done.stdout.splitlines()
        self.assertRegex(title, r"^on cpu \(.*\), precision f32, times by the clock$")
        self.assertEqual([line.split()[0] for line in lines],
                         ["workload", "deep_cnn/d1/b4", "lenet/b2", "mlp/b1", "changing_cnn/d3/b2"])
        self.assertIn("only dynamic", lines[-1])

    def test_picture_has_a_bar_and_its_time_for_each_row(self):
        name = "{http://www.w3.org/2000/svg}"
        texts = [text.text for text in self.plot.iter(name + "text")]
        bars = [text for text in texts if text.startswith(("dynamic ", "static "))]
        self.assertEqual(len(bars), len(self.document["rows"]))
        for text, row in zip(bars, self.document["rows"]):
            self.assertAlmostEqual(float(text.split()[1]) / row["median_ms"], 1, places=2)
        self.assertIn("deep_cnn/d1/b4", texts)

    def test_precision_names_rows_and_rounds_numbers(self):
        losses = []
        for precision, name in [("default", "f32"), ("strict", "f32"), ("bf16", "bf16")]:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "rows.json")
                done = run("--workloads=mlp/b4", f"--precision={precision}", f"--json={path}",
                           *TINY)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, encoding="utf-8") as file:
                    document = json.load(file)
            self.assertIn(f"precision {name},", done.stdout.splitlines()[0])
            self.assertEqual([row["precision"] for row in document["rows"]], [name, name])
            losses.append(document["comparisons"][0]["losses"])
        default, strict, bf16 = losses
        self.assertEqual(default, strict)
        self.assertNotEqual(default, bf16)
        for exact, rounded in zip(default, bf16):
            self.assertAlmostEqual(rounded / exact, 1, delta=0.1)

    def test_a_gpu_that_is_wanted_is_used_or_not_claimed(self):
        for program, arguments in [
                (PROGRAM, ["--workloads=mlp/b4", *TINY]),
                (os.path.join(HERE, "profile_step"), ["--workload=mlp", "--steps=2"])]:
            done = run("--device=cuda", *arguments, program=program)
            if done.returncode != 0:  # built without --config=cuda
                self.assertIn("device cuda:0 cannot be used: ", done.stderr)
                self.assertEqual(done.stdout, "")
            elif "running on the CPU, not on cuda:0" in done.stderr:
                self.assertRegex(done.stdout, "^on cpu")
                self.assertNotIn("cuda", done.stdout)
            else:
                self.assertRegex(done.stdout, "^on cuda:0")

    def test_peaks_of_processes_are_told(self):
        program = os.path.join(HERE, "peak_memory")
        done = run("--workloads=mlp/b4,lenet/b2", "--steps=2", "--threads=1", program=program)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[2:]]
        self.assertEqual([row[0] for row in rows], ["mlp/b4", "lenet/b2"])
        for _, ordinary, frozen, ratio in rows:
            self.assertGreater(int(ordinary), 0)
            self.assertAlmostEqual(int(frozen) / int(ordinary), float(ratio), delta=0.1)
        for arguments, words in [(["--workloads=changing_cnn"], "changing_cnn cannot be frozen"),
                                 (["--workloads=mlp/b2000"], "there are only 1500 digits"),
                                 (["--steps=1"], "--steps is 1"),
                                 (["--threads=0"], "--threads is 0")]:
            done = run(*arguments, program=program)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)

    def test_mistakes_are_named(self):
        for arguments, words in [
                (["--workloads=vgg"], "there is no workload 'vgg'"),
                (["--workloads=mlp/d3"], "bad size 'd3' in 'mlp/d3'"),
                (["--workloads=mlp/b2000", *TINY], "there are only 1500 digits"),
                (["--threads=0"], "--threads is 0"),
                (["--device=gpu"], 'device: got "gpu"'),
                (["--precision=half"], "there is no precision 'half'"),
                (["--workloads=mlp", "--json=/nowhere/rows.json", *TINY], "/nowhere/rows.json"),
        ]:
            done = run(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
