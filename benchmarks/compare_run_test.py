#!/usr/bin/env python3
"""Tests of comparisons, run with fake workers: python3 -m unittest compare_run_test"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(compare.__file__)), "peers"))
from compare_worker import Worker, WorkerError  # noqa: E402

# A worker whose steps take exactly STEP_MS; it prints other lines on stdout, too, and can fail on
# request.
FAKE = """#!{python}
import json, sys
STEP_MS, LOSS, FAIL_ON, DIE_ON = {step_ms}, {loss}, {fail_on!r}, {die_on!r}
print("a library says hello")
for line in sys.stdin:
    command = json.loads(line)
    name = command["cmd"]
    if name == DIE_ON:
        sys.exit("out of memory")
    reply = {{
        "setup": {{"ok": True, "version": "fake " + str(command.get("mode")),
                  "device": {device!r} or command.get("device")}},
        "losses": {{"losses": [LOSS] * command.get("steps", 0)}},
        "block": {{"ms": [STEP_MS] * command.get("steps", 0), **{block!r}}},
        "peak": {{"peak_mb": 12.5}},
    }}[name]
    if name == FAIL_ON:
        reply = {{"error": "this mode is not built in"}}
    print(json.dumps(reply), flush=True)
"""


class FakeWorkerTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def fake(self, name, step_ms=2.0, loss=1.0, fail_on="", die_on="", device="", block=None):
        path = os.path.join(self._folder.name, name)
        with open(path, "w", encoding="utf-8") as script:
            script.write(FAKE.format(python=sys.executable, step_ms=step_ms, loss=loss,
                                     fail_on=fail_on, die_on=die_on, device=device,
                                     block=block or {}))
        os.chmod(path, 0o755)
        return path

    def run_compare(self, firn, peer, *extra):
        """Runs main() with two fakes; returns (exit code, printed text, JSON document)."""
        out = os.path.join(self._folder.name, "out.json")
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
            code = compare.main(["--workloads=mlp/b4", "--quick", f"--firn={firn}",
                                 f"--python={peer}", "--modes=static,eager", f"--json={out}",
                                 *extra])
        with open(out, encoding="utf-8") as file:
            return code, text.getvalue(), json.load(file)

    def test_rows_hold_what_the_workers_reported(self):
        code, text, document = self.run_compare(self.fake("firn", 2.0), self.fake("peer", 6.0))
        self.assertEqual(code, 0)
        self.assertEqual(sorted(document), ["command", "machine", "rows"])
        self.assertEqual(document["rows"], [
            {"workload": "mlp", "depth": 0, "batch": 4, "precision": "f32", "task": "train",
             "framework": framework, "mode": mode, "threads": 2, "device": "cpu", "median_ms": ms,
             "min_ms": ms, "spread": 0, "wall_ms": None, "peak_mb": 12.5}
            for framework, mode, ms in (("firn", "static", 2.0), ("torch", "eager", 6.0))])
        self.assertIn("3.00 (3.00..3.00)", text)

    def test_peers_stand_beside_both_modes_of_firn(self):
        # The fake worker knows the mode by the command `setup`.
        path = self.fake("firn", 2.0)
        with open(path, encoding="utf-8") as script:
            text = script.read()
        with open(path, "w", encoding="utf-8") as script:
            script.write(text.replace('    if name == FAIL_ON:', """\
    if name == "setup" and command["mode"] == "dynamic":
        STEP_MS = 3.0
    if name == FAIL_ON:"""))
        _, text, document = self.run_compare(path, self.fake("peer", 6.0),
                                             "--modes=firn/dynamic,firn/static,eager")
        self.assertEqual([row["mode"] for row in document["rows"]], ["dynamic", "static", "eager"])
        title, head, dynamic, static, eager = text.splitlines()[:5]
        self.assertRegex(title, r"^on cpu \(.*\), precision f32, times by the clock$")
        self.assertLess(head.index("to dynamic (95 %)"), head.index("to static (95 %)"))
        self.assertRegex(dynamic, r"1\.00 \(1\.00\.\.1\.00\) +1\.50 \(1\.50\.\.1\.50\)$")
        self.assertRegex(static, r"0\.67 \(0\.67\.\.0\.67\) +1\.00 \(1\.00\.\.1\.00\)$")
        self.assertRegex(eager, r"2\.00 \(2\.00\.\.2\.00\) +3\.00 \(3\.00\.\.3\.00\)$")

    def test_another_build_stands_beside_the_first(self):
        _, _, document = self.run_compare(self.fake("firn", 2.0), "/nowhere/python",
                                          "--other=" + self.fake("other", 3.0))
        self.assertEqual([(row["framework"], row["median_ms"]) for row in document["rows"]],
                         [("firn", 2.0), ("other", 3.0)])

    def test_compiled_modes_are_left_out_without_a_compiler(self):
        with unittest.mock.patch.dict(os.environ, {"CXX": "/nowhere/g++"}):
            _, text, document = self.run_compare(self.fake("firn"), self.fake("peer"),
                                                 "--modes=static,eager,compiled")
        self.assertIn("torch/compiled skipped: torch.compile needs a C++ compiler, and there is no "
                      "/nowhere/g++", text)
        self.assertEqual([row["mode"] for row in document["rows"]], ["static", "eager"])

    def run_on_cuda(self, *workers, modes="static,cuda_graph"):
        return self.run_compare(*workers, "--device=cuda", "--precision=tf32", f"--modes={modes}")

    def test_on_a_gpu_all_are_told_device_and_precision(self):
        code, text, document = self.run_on_cuda(
            self.fake("firn", 2.0, block={"wall_ms": 2.5, "waits": 0}), self.fake("peer", 6.0))
        self.assertEqual(code, 0)
        self.assertEqual([(row["mode"], row["device"], row["precision"], row["wall_ms"])
                          for row in document["rows"]],
                         [("static", "cuda:0", "tf32", 2.5), ("cuda_graph", "cuda:0", "tf32", None)])
        self.assertRegex(text.splitlines()[0],
                         r"^on cuda:0 \(.*\), precision tf32, times by the device's events$")

    def test_no_time_of_a_cpu_stands_for_one_of_a_gpu(self):
        _, text, document = self.run_on_cuda(self.fake("firn", device="cpu"), self.fake("peer"))
        self.assertIn("firn/static skipped: it runs on cpu, not on cuda:0", text)
        self.assertEqual([row["framework"] for row in document["rows"]], ["torch"])

    def test_steps_that_wait_for_the_device_are_reported(self):
        _, text, _ = self.run_on_cuda(self.fake("firn", block={"waits": 3}), self.fake("peer"))
        self.assertIn("firn/static waits for its device 3 times in a block", text)

    def test_autotuned_modes_are_left_out_without_a_compiler(self):
        with unittest.mock.patch.dict(os.environ, {"CC": "/nowhere/gcc"}):
            _, text, _ = self.run_on_cuda(self.fake("firn"), self.fake("peer"),
                                          modes="static,cuda_max_autotune")
        self.assertIn("torch/cuda_max_autotune skipped: torch.compile needs a C compiler, and there "
                      "is no /nowhere/gcc", text)

    def test_missing_binary_is_named_and_the_rest_still_runs(self):
        _, text, document = self.run_compare("/nowhere/train_worker", self.fake("peer"))
        self.assertIn("firn/static skipped: cannot start /nowhere/train_worker", text)
        self.assertEqual([row["framework"] for row in document["rows"]], ["torch"])

    def test_refused_mode_is_named_with_its_reason(self):
        _, text, _ = self.run_compare(self.fake("firn"), self.fake("peer", fail_on="setup"))
        self.assertIn("torch/eager skipped: this mode is not built in", text)

    def test_worker_that_dies_midway_is_dropped_with_its_last_words(self):
        _, text, document = self.run_compare(self.fake("firn"), self.fake("peer", die_on="peak"))
        self.assertIn("torch/eager dropped: the worker ended: out of memory", text)
        self.assertEqual([row["framework"] for row in document["rows"]], ["firn"])

    def test_different_losses_are_reported(self):
        _, text, _ = self.run_compare(self.fake("firn"), self.fake("peer", loss=1.5))
        self.assertIn("torch/eager trains differently from firn/static", text)

    def test_nothing_to_run_is_a_failure(self):
        code, _, document = self.run_compare("/nowhere/a", "/nowhere/b")
        self.assertEqual((code, document["rows"]), (1, []))

    def test_what_comes_after_the_budget_is_named(self):
        with unittest.mock.patch.object(compare.time, "monotonic", side_effect=range(0, 10**6, 9)):
            code, text, document = self.run_compare(self.fake("firn"), self.fake("peer"),
                                                    "--budget=30")
        self.assertEqual((code, len(document["rows"])), (0, 1))
        self.assertIn("torch/eager skipped: not reached within 30 s", text)
        self.assertIn("1 of 3 rounds within 30 s", text)

    def test_silent_worker_times_out(self):
        worker = Worker([self.fake("firn", die_on="never"), ], threads=1)
        self.addCleanup(worker.close)
        with self.assertRaisesRegex(WorkerError, "no answer"):
            worker.request({"cmd": "setup"}, timeout_s=0)

    def test_worker_that_took_nothing_is_closed(self):
        worker = Worker(["true"], threads=1)
        worker._process.wait()  # pylint: disable=protected-access
        with self.assertRaisesRegex(WorkerError, "the worker ended"):
            worker.request({"cmd": "setup"})
        worker.close()


class TrainWorkerTest(unittest.TestCase):
    """Against the real worker, which Bazel puts beside this file."""

    WORKER = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "train_worker")

    def test_times_a_model_and_writes_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            with contextlib.redirect_stdout(io.StringIO()):
                status = compare.main(["--workloads=mlp/b1", "--quick", "--rounds=1",
                                       "--modes=firn/dynamic,firn/static",
                                       "--firn=" + self.WORKER, "--json=" + path])
            self.assertEqual(status, 0)
            with open(path, encoding="utf-8") as file:
                written = json.load(file)
        self.assertEqual([row["mode"] for row in written["rows"]], ["dynamic", "static"])
        for row in written["rows"]:
            self.assertEqual((row["workload"], row["batch"], row["framework"]), ("mlp", 1, "firn"))
            self.assertGreater(row["median_ms"], 0)
            self.assertGreaterEqual(row["peak_mb"], 0)
        self.assertIn("cpu", written["machine"])

    def answers(self, *commands):
        done = subprocess.run([self.WORKER], input="\n".join(map(json.dumps, commands)) + "\n",
                              capture_output=True, text=True, timeout=60, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_tells_device_precision_and_both_clocks(self):
        setup = {"cmd": "setup", "workload": "mlp", "batch": 2, "mode": "static", "threads": 1}
        told, block = self.answers({**setup, "device": "cpu", "precision": "tf32"},
                                   {"cmd": "block", "steps": 3})
        self.assertEqual((told["device"], told["precision"]), ("cpu", "f32"))
        self.assertEqual((len(block["ms"]), block["waits"]), (3, 0))
        self.assertGreaterEqual(block["wall_ms"] * 3, sum(block["ms"]) * 0.99)
        for wrong in ({"device": "gpu"}, {"precision": "f8"}):
            (reply,) = self.answers({**setup, **wrong})
            self.assertIn(next(iter(wrong.values())), reply["error"])

    def test_says_where_it_runs_when_a_gpu_is_wanted(self):
        (told,) = self.answers({"cmd": "setup", "workload": "mlp", "batch": 2, "mode": "dynamic",
                                "device": "cuda"})
        if "error" in told:
            self.assertIn("cuda:0 cannot be used", told["error"])
        else:
            self.assertIn(told["device"], ("cpu", "cuda:0"))

    def test_answers_a_mistake_with_an_error(self):
        for line in ("not json", '{"cmd": "dance"}', '{"cmd": "setup", "workload": "vgg"}'):
            done = subprocess.run([self.WORKER], input=line + "\n", capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertIn('"error"', done.stdout, line)


if __name__ == "__main__":
    unittest.main()
