#!/usr/bin/env python3
"""Tests of gpu_checks.py with programs that only pretend; no GPU is needed."""

import contextlib
import io
import os
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu_checks  # noqa: E402
from gpu_checks import Step  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def python(code):
    return [sys.executable, "-c", code]


class ListTest(unittest.TestCase):

    def setUp(self):
        args = gpu_checks.parse_args(["OUT", "--bin=/nowhere"])
        self.steps = gpu_checks.all_steps(args, "OUT")

    def test_names_are_unique_and_limits_positive(self):
        names = [step.name for step in self.steps]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(step.limit_s > 0 for step in self.steps))

    def test_runs_every_program_that_the_document_lists(self):
        with open(os.path.join(TOP, "docs", "gpu_unverified.md"), encoding="utf-8") as file:
            labels = set(re.findall(r"//(\w[\w/]*:\w+)", file.read()))
        self.assertIn("tests/ops:cuda_test", labels)
        run = {word for step in self.steps for word in step.argv}
        for label in labels:
            self.assertIn(os.path.join("/nowhere", label.replace(":", "/")), run)

    def test_finds_tests_of_cuda_by_their_names(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in ("tests/nn/cuda_nn_test", "tests/nn/conv_test", "tests/nn/cuda_data.txt"):
                path = os.path.join(folder, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n")
                os.chmod(path, 0o755)
            names = [gpu_checks.name_of(path, folder) for path in gpu_checks.cuda_tests(folder)]
        self.assertEqual(names[0], "ops.cuda_test")
        self.assertIn("nn.cuda_nn_test", names)
        self.assertNotIn("nn.conv_test", names)

    def test_list_shows_steps_and_runs_none(self):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            self.assertEqual(gpu_checks.main(["--list", "--only=profile.*"]), 0)
        lines = text.getvalue().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn("--device=cuda", lines[0])


class RunTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_step(self, argv, limit_s=60, environment=None, has_gpu=True):
        path = os.path.join(self.folder, "output.txt")
        how, _ = gpu_checks.run(Step("step", argv, 60, environment=environment or {}), path,
                                 limit_s, has_gpu)
        with open(path, encoding="utf-8") as file:
            return how, file.read()

    def test_keeps_what_a_step_says_on_both_streams(self):
        how, said = self.run_step(python("import sys; print('a'); sys.exit('b')"))
        self.assertEqual(how, "FAILED: status 1")
        self.assertTrue(said.startswith("$ "))
        self.assertIn("a\n", said)
        self.assertIn("b\n", said)

    def test_sets_the_environment_of_a_step(self):
        how, said = self.run_step(python("import os; print(os.environ['FIRN_X'])"),
                                  environment={"FIRN_X": "seven"})
        self.assertEqual(how, "passed")
        self.assertIn("seven", said)

    def test_stops_a_step_and_its_children_in_time(self):
        pid_file = os.path.join(self.folder, "pid")
        start = time.monotonic()
        how, _ = self.run_step(["/bin/sh", "-c", f"sleep 60 & echo $! > {pid_file}; wait"], 0.5)
        self.assertRegex(how, "^TOO SLOW")
        self.assertLess(time.monotonic() - start, 20)
        with open(pid_file, encoding="utf-8") as file:
            child = int(file.read())
        for _ in range(100):  # until the system has cleared it away
            try:
                with open(f"/proc/{child}/stat", encoding="utf-8") as stat:
                    gone = stat.read().rpartition(")")[2].split()[0] == "Z"
            except FileNotFoundError:
                gone = True
            if gone:
                break
            time.sleep(0.05)
        self.assertTrue(gone)

    def test_a_program_that_cannot_start_is_a_failure(self):
        self.assertEqual(self.run_step(["/nowhere/program"])[0],
                         "FAILED: No such file or directory")

    def test_what_ran_without_a_gpu_does_not_pass(self):
        self.assertEqual(gpu_checks.judge("[  PASSED  ] 3 tests", True), "passed")
        for said, has_gpu in [("no GPU (why): kernels run on the stand-in", True),
                              ("firn: running on the CPU, not on cuda:0: why", True),
                              ("[  PASSED  ] 3 tests", False)]:
            self.assertRegex(gpu_checks.judge(said, has_gpu), "^NO GPU")
        self.assertEqual(gpu_checks.judge("[  SKIPPED ] 1 test", True),
                         "passed, with tests skipped")

    def checks(self, *arguments):
        out = os.path.join(self.folder, "out")
        with contextlib.redirect_stdout(io.StringIO()) as text:
            code = gpu_checks.main([out, "--bin=" + self.folder, *arguments])
        with open(os.path.join(out, "summary.txt"), encoding="utf-8") as file:
            return code, text.getvalue(), file.read(), sorted(os.listdir(out))

    def test_goes_on_after_a_failure_and_says_what_is_missing(self):
        programs = {"ops/cuda_test": "exit 3", "tensor/cuda_tensor_test": "echo fine"}
        for name, script in programs.items():
            path = os.path.join(self.folder, "tests", name)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{script}\n")
            os.chmod(path, 0o755)
        code, text, summary, files = self.checks("--only=*.cuda_*")
        self.assertEqual(code, 1)
        self.assertRegex(summary, r"ops.cuda_test +[\d.]+ s  FAILED: status 3")
        self.assertRegex(summary, r"tensor.cuda_tensor_test +[\d.]+ s  (passed|NO GPU)")
        self.assertRegex(summary, r"autograd.graph.cuda_graph_test .* skipped: there is no /")
        self.assertIn("01_ops.cuda_test.txt", files)
        self.assertIn("outputs in", text)

    def test_leaves_out_what_the_budget_does_not_allow(self):
        code, _, summary, files = self.checks("--only=mnist.*", "--budget=0")
        self.assertEqual((code, files), (0, ["summary.txt"]))
        self.assertEqual(summary.count("skipped: the time is up"), 2)

    def test_needs_torch_where_it_compares(self):
        _, _, summary, _ = self.checks("--only=compare.*", "--python=/nowhere/python")
        self.assertEqual(summary.count("skipped: there is no /nowhere/python"), 3)


if __name__ == "__main__":
    unittest.main()
