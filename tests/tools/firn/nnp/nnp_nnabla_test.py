#!/usr/bin/env python3
"""`firn nnp train` and `firn nnp infer` beside nnabla_cli: equal costs, errors and outputs. Skipped where Python has no
nnabla (1.39 needs Python 3.8 to 3.10):

    bazel build //tools/firn
    VENV/bin/python tests/tools/firn/nnp/nnp_nnabla_test.py bazel-bin/tools/firn/firn
"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import nnabla
    import numpy as np

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import make_trainings
except ImportError:
    nnabla = None

FIRN = os.path.abspath(sys.argv.pop(1))
NNABLA = [sys.executable, "-m", "nnabla.utils.cli.cli"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

EXECUTOR = """
executor { name: "run" network_name: "v" data_variable { variable_name: "x" data_name: "x" }
  output_variable { variable_name: "s" data_name: "s" } output_variable { variable_name: "h" data_name: "h" } }
"""


@unittest.skipIf(nnabla is None, "Python has no nnabla")
class NnpNnablaTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.names = make_trainings.write(self.folder)

    def out(self, name):
        return os.path.join(self.folder, name)

    def rewrite(self, source, target, change):
        with open(self.out(source + ".nntxt")) as text, open(self.out(target + ".nntxt"), "w") as out:
            out.write(change(text.read()))

    def firn(self, *arguments):
        run = subprocess.run([FIRN, "nnp", *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)

    def compare(self, want, got, name):
        self.assertEqual(list(got), list(want), name)
        for epoch, values in want.items():
            self.assertEqual(list(got[epoch]), list(values), name)
            for key, value in values.items():
                self.assertAlmostEqual(got[epoch][key], value, delta=1e-4, msg=f"{name}, epoch {epoch}, {key}")

    def test_costs_and_errors_are_nnablas(self):
        for name in self.names:
            with self.subTest(name):
                want = make_trainings.run_nnabla(self.folder, name, self.out(name + "_nnabla"))
                self.firn("train", name + ".nntxt", "-o", self.out(name))
                self.compare(want, make_trainings.report(self.out(name) + "/monitoring_report.yml"), name)

    def test_each_goes_on_from_what_the_other_saved(self):
        # Solvers with states; the sixth epoch's file has them, too, with either.
        for name in ("adam", "nesterov", "rmsprop_graves", "convolution"):
            with self.subTest(name):
                self.rewrite(name, "half", lambda text: text.replace("max_epoch: 6", "max_epoch: 5"))
                firn, peer = self.out(name + "_firn"), self.out(name + "_peer")
                self.firn("train", "half.nntxt", "-o", firn)
                make_trainings.run_nnabla(self.folder, "half", peer)
                saved = "/results_current_5.nnp"
                want = make_trainings.run_nnabla(self.folder, name, self.out(name + "_from_firn"), firn + saved)
                self.firn("train", name + ".nntxt", "-o", self.out(name + "_from_peer"), "-p", peer + saved)
                self.compare(want, make_trainings.report(self.out(name + "_from_peer") + "/monitoring_report.yml"), name)

    def test_outputs_are_nnablas(self):
        self.rewrite("sgd", "run", lambda text: text + EXECUTOR)
        self.firn("train", "run.nntxt", "-o", self.out("trained"))
        np.random.RandomState(1).randn(2, 4).astype(np.float32).tofile(self.out("x.bin"))
        model = self.out("trained/results.nnp")
        subprocess.run(NNABLA + ["infer", "-c", model, "-o", "want", "-b", "2", "x.bin"], cwd=self.folder, check=True, **QUIET)
        self.firn("infer", model, "-o", "got", "-b", "2", "x.bin")
        for i in range(2):
            want, got = (np.fromfile(self.out(f"{name}_{i}.bin"), np.float32) for name in ("want", "got"))
            self.assertEqual(want.size, 11)
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    unittest.main()
