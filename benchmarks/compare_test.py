#!/usr/bin/env python3
"""Tests of the comparison runner against fake workers: python3 -m unittest compare_test"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402
import compare_machine  # noqa: E402
import compare_stats  # noqa: E402

PEERS = os.path.join(os.path.dirname(os.path.realpath(compare.__file__)), "peers")
sys.path.insert(0, PEERS)
import torch_modes  # noqa: E402
from compare_worker import Worker, WorkerError, parse_reply  # noqa: E402

# A worker whose steps take exactly STEP_MS; it chats on stdout and can fail on request.
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


class StatisticsTest(unittest.TestCase):

    def test_quantile_interpolates_between_sorted_values(self):
        self.assertEqual(compare_stats.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(compare_stats.quantile([4, 1, 3, 2], 0), 1)
        self.assertEqual(compare_stats.quantile([7], 0.9), 7)

    def test_summary_counts_blocks_not_steps(self):
        summary = compare_stats.summarize([[1, 1, 1, 1, 9], [2], [3], [50, 50, 50]])
        self.assertEqual(summary["median_ms"], 2.5)
        self.assertEqual(summary["min_ms"], 1)
        self.assertEqual(summary["spread"], 14.75 - 1.75)

    def test_ratio_of_constant_times_has_a_point_interval(self):
        self.assertEqual(compare_stats.ratio_interval([[4.0]] * 5, [[2.0]] * 5), (2.0, 2.0, 2.0))

    def test_ratio_pairs_rounds_so_a_shared_slowdown_cancels(self):
        drift = [1.0, 1.0, 5.0, 9.0, 20.0]
        ratio, low, high = compare_stats.ratio_interval([[3 * d] for d in drift],
                                                        [[2 * d] for d in drift])
        for value in (ratio, low, high):
            self.assertAlmostEqual(value, 1.5)

    def test_ratio_interval_covers_one_when_noise_hides_the_difference(self):
        _, low, high = compare_stats.ratio_interval([[1.0], [3.0], [1.1], [2.9], [2.0]],
                                                    [[3.0], [1.0], [2.9], [1.1], [2.1]])
        self.assertLess(low, 1)
        self.assertGreater(high, 1)

    def test_ratio_refuses_unpaired_rounds(self):
        with self.assertRaisesRegex(ValueError, "1 blocks against 2"):
            compare_stats.ratio_interval([[1.0]], [[1.0], [2.0]])

    def test_largest_gap_is_relative(self):
        self.assertAlmostEqual(compare_stats.largest_gap([2.0, 1.1], [2.0, 1.0]), 0.1)


class ParsingTest(unittest.TestCase):

    def test_bare_name_stands_for_its_standard_sizes(self):
        batches = [w["batch"] for w in compare.parse_workloads("deep_cnn,lenet")]
        self.assertEqual(batches, [16, 64, 64])

    def test_sizes_override(self):
        self.assertEqual(compare.parse_workload("deep_cnn/d30/b256"),
                         {"workload": "deep_cnn", "depth": 30, "batch": 256})

    def test_unknown_name_and_bad_size_are_named(self):
        with self.assertRaisesRegex(ValueError, "vgg"):
            compare.parse_workload("vgg/b1")
        with self.assertRaisesRegex(ValueError, "x3"):
            compare.parse_workload("mlp/x3")

    def test_label_is_what_parse_reads(self):
        for name in ("deep_cnn/d3/b8", "mlp/b1"):
            self.assertEqual(compare.label(compare.parse_workload(name)), name)

    def test_quick_keeps_explicit_values(self):
        args = compare.parse_args(["--quick", "--rounds=5"])
        self.assertEqual((args.rounds, args.warmup), (5, 3))

    def test_reply_ignores_what_is_not_a_json_object(self):
        self.assertIsNone(parse_reply(b"loading ..."))
        self.assertIsNone(parse_reply(b"{broken"))
        self.assertEqual(parse_reply(b' {"ok": true}\n'), {"ok": True})


class DeviceTest(unittest.TestCase):

    def names(self, *argv):
        return [f"{c['framework']}/{c['mode']}" for c in
                compare.contenders(compare.parse_args(list(argv)))]

    def test_device_picks_the_modes_of_the_peer(self):
        self.assertEqual(self.names(), ["firn/dynamic", "firn/static"] + [
            "torch/" + mode for mode in compare.TORCH_MODES + ["eager_default_adam"]])
        self.assertEqual(self.names("--device=cuda"), ["firn/dynamic", "firn/static"] + [
            "torch/" + mode for mode in compare.TORCH_CUDA_MODES + ["cuda_eager_default_adam"]])

    def test_every_mode_is_one_that_the_worker_knows(self):
        self.assertEqual(set(compare.TORCH_MODES + compare.TORCH_CUDA_MODES),
                         set(torch_modes.MODES))
        self.assertEqual(compare.PRECISIONS, list(torch_modes.PRECISIONS))
        for device in ("cpu", "cuda"):
            for contender in compare.contenders(compare.parse_args([f"--device={device}"])):
                if contender["framework"] == "torch":
                    torch_modes.check({**contender["setup"], "device": device})

    def test_a_bare_cuda_is_the_first_one(self):
        self.assertEqual(compare.parse_args(["--device=cuda"]).device, "cuda:0")
        self.assertEqual(compare.parse_args(["--device=cuda:1"]).device, "cuda:1")
        for text in ("gpu", "cuda:", "cuda:x", "cpu:0"):
            with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
                compare.parse_args([f"--device={text}"])
            self.assertIn(f"unknown device '{text}'", said.getvalue())

    def test_what_takes_a_cpu_minutes_is_timed_when_asked_for(self):
        def timed(*argv):
            return {w["workload"] for w in compare.parse_args(list(argv)).workloads}
        self.assertNotIn("resnet18", timed())
        self.assertIn("resnet18", timed("--device=cuda"))
        self.assertEqual(timed("--workloads=resnet18"), {"resnet18"})


class TorchModesTest(unittest.TestCase):

    def test_modes_say_what_they_ask_of_pytorch(self):
        mode, precision, device = torch_modes.check(
            {"mode": "cuda_graph_channels_last", "precision": "bf16", "device": "cuda"})
        self.assertEqual(mode, torch_modes.Mode("cuda", channels_last=True, graph=True))
        self.assertEqual((precision.autocast, device), ("bfloat16", "cuda:0"))
        self.assertEqual(torch_modes.check({"mode": "cuda_max_autotune"})[0].compile,
                         "max-autotune")
        self.assertTrue(torch_modes.MODES["cuda_channels_last"].channels_last)

    def test_default_is_tf32_in_convolutions_only(self):
        _, precision, device = torch_modes.check({"mode": "eager"})
        self.assertEqual((precision.matmul_tf32, precision.conv_tf32, precision.autocast, device),
                         (False, True, "", "cpu"))

    def test_what_there_is_not_is_named(self):
        for command, words in [
                ({"mode": "fast"}, "unknown mode 'fast': one of eager, "),
                ({"mode": "eager", "precision": "f8"}, "unknown precision 'f8'"),
                ({"mode": "eager", "task": "dance"}, "unknown task 'dance'"),
                ({"mode": "eager", "device": "gpu"}, "unknown device 'gpu'"),
                ({"mode": "eager", "device": "cpu:1"}, "unknown device 'cpu:1'"),
                ({"mode": "eager", "device": "cuda:0"}, "mode 'eager' runs on cpu, not on cuda:0"),
                ({"mode": "cuda_graph", "device": "cpu"}, "mode 'cuda_graph' runs on cuda"),
        ]:
            with self.assertRaisesRegex(ValueError, words):
                torch_modes.check(command)


class TorchWorkerTest(unittest.TestCase):
    """Against the real worker, where PyTorch is installed."""

    def setUp(self):
        try:
            import torch  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("there is no PyTorch")
        self.torch = torch

    def test_cuda_modes_refuse_a_machine_without_a_gpu(self):
        if self.torch.cuda.is_available():
            self.skipTest("there is a GPU")
        worker = Worker([sys.executable, os.path.join(PEERS, "torch_worker.py")], threads=1)
        self.addCleanup(worker.close)
        for mode in compare.TORCH_CUDA_MODES:
            with self.assertRaisesRegex(WorkerError, "torch.cuda.is_available\\(\\) is false"):
                worker.request({"cmd": "setup", "workload": "mlp", "batch": 2, "mode": mode})


class MachineTest(unittest.TestCase):

    def test_own_work_is_not_counted_as_others(self):
        load = compare_machine.OthersLoad(os.getpid())
        start, before = time.monotonic(), compare_machine.process_ticks(os.getpid())
        while time.monotonic() - start < 0.5:
            sum(range(1000))
        others, elapsed = load.share(), time.monotonic() - start
        own = (compare_machine.process_ticks(os.getpid()) - before) / os.sysconf("SC_CLK_TCK")
        self.assertGreater(own, 0)
        self.assertLessEqual(others + own / (elapsed * os.cpu_count()), 1.1)

    def test_waiting_for_quiet_ends_with_patience(self):
        start = time.monotonic()
        compare_machine.wait_until_quiet(0.2, limit=-1.0, sample_s=0.05)
        self.assertGreaterEqual(time.monotonic() - start, 0.2)

    def test_no_patience_does_not_wait(self):
        start = time.monotonic()
        compare_machine.wait_until_quiet(0)
        self.assertLess(time.monotonic() - start, 0.2)


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
        # The fake tells both modes apart by what setup says.
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

    def test_silent_worker_times_out(self):
        worker = Worker([self.fake("firn", die_on="never"), ], threads=1)
        self.addCleanup(worker.close)
        with self.assertRaisesRegex(WorkerError, "no answer"):
            worker.request({"cmd": "setup"}, timeout_s=0)


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
