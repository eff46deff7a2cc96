#!/usr/bin/env python3
"""Tests of what the comparison runner is made of: python3 -m unittest compare_test"""

import contextlib
import io
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402
import compare_machine  # noqa: E402
import compare_stats  # noqa: E402

PEERS = os.path.join(os.path.dirname(os.path.realpath(compare.__file__)), "peers")
sys.path.insert(0, PEERS)
import torch_modes  # noqa: E402
from compare_worker import Worker, WorkerError, parse_reply  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
