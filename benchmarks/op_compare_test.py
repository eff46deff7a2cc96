#!/usr/bin/env python3
"""Tests of op_compare.py and of PyTorch's worker: python3 -m unittest op_compare_test"""

import argparse
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
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import op_compare  # noqa: E402
import op_compare_profile  # noqa: E402
import op_compare_report as report  # noqa: E402

PEERS = os.path.join(os.path.dirname(os.path.realpath(op_compare.__file__)), "peers")

# Stands for either worker. Calls take MS[operation]; RESULTS[operation] is what they compute;
# ERRORS and DIES name "cmd operation"; ASKED collects the commands.
FAKE = """#!{python}
import json, sys
MS, RESULTS, ERRORS, DIES, REASONS, ASKED = {settings!r}
DTYPES = {{"bits": ["i64"], "half": ["f32", "f16"]}}
now = None
for line in sys.stdin:
    command = json.loads(line)
    name = command["cmd"]
    if name == "list":
        print(json.dumps({{"operations": [{{"operation": op, "cases": ["big", "small"]}}
                                          for op in MS]}}), flush=True)
        continue
    if name == "version":
        print('{{"version": "fake"}}', flush=True)
        continue
    op = command.get("operation") or command.get("call", {{}}).get("operation") or now
    with open(ASKED, "a") as out:
        out.write(json.dumps([name, op, command.get("pass")]) + "\\n")
    if f"{{name}} {{op}}" in DIES:
        sys.exit("out of memory")
    if name == "setup":
        now = op
    backward = command.get("pass") == "backward" and f"backward {{op}}" in ERRORS
    reply = {{
        "describe": {{"operation": op, "case": command.get("case"), "random": op == "random",
                      "internal": "the gradient of relu" if op == "relu_grad" else "",
                      "dtypes": DTYPES.get(op, ["f32", "f64", "bf16", "f16"]),
                      "layouts": ["contiguous", "transposed"][:1 + (op != "bits")]}},
        "check": {{"reason": REASONS.get(op)}},
        "setup": {{"ok": True, "ms": MS.get(op), "results": [RESULTS.get(op, RESULTS["all"])]}},
        "block": {{"ms": [MS.get(op)] * command.get("calls", 0)}},
    }}[name]
    if f"{{name}} {{op}}" in ERRORS or backward:
        reply = {{"error": ERRORS.get(f"{{name}} {{op}}") or ERRORS[f"backward {{op}}"]}}
    print(json.dumps(reply), flush=True)
"""
SUM = {"shape": [3], "finite": 3, "mean": 0.5, "mean_abs": 1.0}


class FakeWorkerTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def fake(self, name, ms, results=None, errors=None, dies=(), reasons=None):
        path = os.path.join(self.folder, name)
        settings = (ms, {"all": SUM, **(results or {})}, errors or {}, list(dies), reasons or {},
                    path + ".asked")
        with open(path, "w", encoding="utf-8") as script:
            script.write(FAKE.format(python=sys.executable, settings=settings))
        os.chmod(path, 0o755)
        return path

    def asked(self, name):
        with open(os.path.join(self.folder, name + ".asked"), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def compare(self, firn, peer, *extra):
        """Runs main() with two fakes; returns (exit code, printed text, JSON document)."""
        out, text = os.path.join(self.folder, "out.json"), io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
            code = op_compare.main(["--quick", f"--firn={firn}", f"--python={peer}",
                                    f"--json={out}", *extra])
        document = None
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                document = json.load(file)
        return code, text.getvalue(), document

    def test_rows_hold_what_the_workers_reported_and_the_worst_come_first(self):
        code, text, document = self.compare(self.fake("firn", {"exp": 2.0, "sort": 4.0}),
                                            self.fake("peer", {"exp": 3.0, "sort": 1.0}))
        self.assertEqual(code, 0)
        self.assertEqual(sorted(document), ["command", "machine", "rows", "skipped"])
        self.assertEqual(document["rows"], [
            {"operation": op, "case": "big", "dtype": "f32", "pass": direction,
             "layout": "contiguous", "threads": 1, "firn_ms": ours, "peer_ms": theirs,
             "ratio": ours / theirs}
            for op, ours, theirs in (("sort", 4.0, 1.0), ("exp", 2.0, 3.0))
            for direction in ("forward", "backward")])
        self.assertEqual((document["skipped"], document["machine"]["versions"]),
                         ([], {"torch": "fake"}))
        self.assertIn("4.00 (4.00..4.00)", text)
        # The median of 4 and 2/3 is 2.333.
        self.assertIn("f32 forward contiguous, 1 threads: 2 rows, median ratio 2.33, "
                      "1 above 1.2", text)

    def test_choices_multiply(self):
        _, _, document = self.compare(
            self.fake("firn", {"exp": 1.0, "sort": 1.0}), self.fake("peer", {"exp": 1.0}),
            "--operations=exp", "--dtypes=f64,f16", "--passes=forward", "--threads=1,2",
            "--layouts=contiguous,transposed")
        self.assertEqual([(r["operation"], r["dtype"], r["layout"], r["threads"])
                          for r in document["rows"]],
                         [("exp", dtype, layout, threads) for dtype in ("f64", "f16")
                          for layout in ("contiguous", "transposed") for threads in (1, 2)])

    def test_another_build_may_stand_for_pytorch(self):
        _, _, document = self.compare(
            self.fake("firn", {"exp": 2.0, "relu_grad": 1.0}), "/nowhere/python",
            "--passes=forward", "--other=" + self.fake("other", {"exp": 4.0, "relu_grad": 1.0}))
        self.assertEqual([row["ratio"] for row in document["rows"]], [0.5])
        self.assertEqual(document["skipped"], [
            {"reason": "users do not call it: the gradient of relu", "what": ["relu_grad"]}])
        # An op_worker does not know the question whether it has a call.
        self.assertNotIn("check", [name for name, _, _ in self.asked("other")])

    def test_what_firn_does_not_take_is_named(self):
        ms = {"bits": 1.0, "half": 1.0}
        _, text, document = self.compare(
            self.fake("firn", ms), self.fake("peer", ms), "--passes=forward",
            "--dtypes=f32,f64,i64", "--operations=bits,half,nothing", "--layouts=transposed")
        self.assertEqual([(r["operation"], r["dtype"]) for r in document["rows"]],
                         [("half", "f32")])
        self.assertIn("skipped: Firn's operation does not take f64: half/big", text)
        self.assertIn("skipped: no input can be transposed: bits/big", text)
        self.assertIn("skipped: it has no large sample: nothing", text)

    def test_operations_on_integers_keep_their_dtype(self):
        _, _, document = self.compare(self.fake("firn", {"bits": 1.0}),
                                      self.fake("peer", {"bits": 1.0}), "--passes=forward")
        self.assertEqual([r["dtype"] for r in document["rows"]], ["i64"])

    def test_what_pytorch_does_not_have_is_named_with_the_reason(self):
        ms = {"exp": 1.0, "relu_grad": 1.0}
        _, text, document = self.compare(
            self.fake("firn", ms),
            self.fake("peer", ms, reasons={"relu_grad": "users do not call it"}))
        self.assertEqual({r["operation"] for r in document["rows"]}, {"exp"})
        self.assertIn("skipped: users do not call it: relu_grad", text)
        self.assertEqual(document["skipped"],
                         [{"reason": "users do not call it", "what": ["relu_grad"]}])

    def test_other_results_have_no_row(self):
        ms, other = {"exp": 1.0, "random": 1.0}, {**SUM, "mean": 0.6}
        _, text, document = self.compare(
            self.fake("firn", ms),
            self.fake("peer", ms, results={"exp": other, "random": other}), "--passes=forward")
        self.assertEqual([r["operation"] for r in document["rows"]], ["random"])
        self.assertIn("skipped: PyTorch computes something else: result 0 has mean 0.5 against "
                      "0.6, of absolute values 1 against 1: exp/big f32 forward contiguous 1t",
                      text)

    def test_a_worker_that_dies_is_started_again(self):
        ms = {"exp": 1.0, "sort": 1.0}
        _, text, document = self.compare(self.fake("firn", ms),
                                         self.fake("peer", ms, dies=["setup exp"]))
        self.assertEqual({r["operation"] for r in document["rows"]}, {"sort"})
        self.assertIn("skipped: PyTorch: the worker ended: out of memory: "
                      "exp/big f32 forward contiguous 1t", text)

    def test_a_pass_that_there_is_not_is_asked_for_once(self):
        ms = {"argmax": 1.0}
        self.compare(
            self.fake("firn", ms, errors={"backward argmax": "no gradient flows through it"}),
            self.fake("peer", ms), "--dtypes=f32,f64")
        self.assertEqual(self.asked("firn").count(["setup", "argmax", "backward"]), 1)
        self.assertEqual(self.asked("peer").count(["setup", "argmax", "backward"]), 0)

    def test_nothing_starts_after_the_budget(self):
        code, text, _ = self.compare(self.fake("firn", {"exp": 1.0}),
                                     self.fake("peer", {"exp": 1.0}), "--budget=1e-9")
        self.assertEqual(code, 1)
        self.assertIn("skipped: not reached within 1e-09 s: exp/big", text)

    def test_python_without_pytorch_is_told(self):
        path = os.path.join(self.folder, "python")
        with open(path, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2\n"
                         "exit 1\n")
        os.chmod(path, 0o755)
        code, text, document = self.compare(self.fake("firn", {"exp": 1.0}), path)
        self.assertEqual((code, document), (1, None))
        self.assertIn("No module named 'torch'", text)
        self.assertIn("give one that is with --python", text)

    def test_missing_worker_is_told(self):
        code, text, _ = self.compare("/nowhere/op_worker", self.fake("peer", {}))
        self.assertEqual(code, 1)
        self.assertIn("cannot start /nowhere/op_worker", text)

    def test_the_processor_of_one_thread_is_counted(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            op_compare.parse_args(["--clock=cpu", "--threads=1,2"])
        self.assertEqual(op_compare.parse_args(["--clock=cpu", "--threads=1"]).clock, "cpu")

    def test_unknown_words_are_refused(self):
        for wrong in ("--dtypes=f8", "--passes=sideways", "--layouts=upside_down", "--threads=0"):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
                op_compare.parse_args([wrong])


class RaceTest(unittest.TestCase):

    def test_blocks_take_as_long_for_both(self):
        """The faster side would be timed by its first calls after a wait otherwise."""
        asked = []

        class Side(float):  # calls of so many ms
            def request(self, cmd, calls):
                asked.append((cmd, self, calls))
                return {"ms": [float(self)] * calls}

        firn, peer = Side(2.0), Side(300.0)
        args = argparse.Namespace(block_seconds=0.1, rounds=2, patience=0, budget=0, clock="wall")
        row = op_compare.Run(args, firn, peer)._race({firn: 2.0, peer: 300.0})
        self.assertEqual(sorted(asked), [("block", 2.0, 50)] * 2 + [("block", 300.0, 1)] * 2)
        self.assertEqual((row["firn_ms"], row["peer_ms"]), (2.0, 300.0))

    def test_a_processor_is_not_had_while_one_sleeps(self):
        class Side:
            pid = os.getpid()

            def request(self, cmd, calls):
                del cmd, calls
                time.sleep(0.2)

        args = argparse.Namespace(clock="cpu", budget=0)
        times = op_compare.Run(args, None, None)._block(Side(), 2)
        self.assertEqual(len(times), 1)
        self.assertLess(times[0], 50)


class ProfileTest(unittest.TestCase):

    def test_the_largest_come_first_by_short_names(self):
        text = """# Overhead  Symbol
# ........  ......
    17.70%  [.] firn::winograd::(anonymous namespace)::TileKernel<11, 2>
     3.00%  [k] clear_page_erms
    40.25%  [.] void firn::cpu::internal::AnyRow<firn::TanhFn, float, float>(float const*, long)
     2.00%  [.] firn::cpu::ParallelFor<long>(long)::{lambda(long, long)#1}::operator()(long) const
"""
        self.assertEqual(op_compare_profile.parse(text), [
            (40.25, "AnyRow<TanhFn, float, float>"), (17.7, "winograd::TileKernel<11, 2>"),
            (3.0, "kernel: clear_page_erms"), (2.0, "ParallelFor<long>")])

    @unittest.skipIf(op_compare_profile.missing(), "there is no perf")
    def test_a_process_is_seen_from_outside(self):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
            try:
                found = op_compare_profile.profile(busy.pid, lambda: time.sleep(0.5))
            finally:
                busy.kill()
        if not found:
            self.skipTest("perf may not look at processes here")
        self.assertLessEqual(sum(percent for percent, _ in found), 101)


class ReportTest(unittest.TestCase):

    def test_profiles_stand_below_their_rows(self):
        row = {"operation": "add", "case": "4M", "dtype": "f32", "pass": "forward",
               "layout": "contiguous", "threads": 1, "firn_ms": 2.0, "peer_ms": 1.0, "ratio": 2.0,
               "_interval": (1.9, 2.1), "profile": [(43.2, "Transpose<16>")]}
        lines = report.format_report([row], {}).splitlines()
        self.assertIn("add/4M", lines[1])
        self.assertEqual(lines[2], "       43 % Transpose<16>")

    def test_differences_are_relative_to_the_elements(self):
        def gap(dtype="f32", **other):
            return op_compare.difference([SUM], [{**SUM, **other}], dtype)

        self.assertEqual(gap(mean=0.5005), "")
        self.assertIn("mean 0.5 against 0.502", gap(mean=0.502))
        self.assertEqual(gap("bf16", mean=0.55), "")
        self.assertIn("absolute values 1 against 1.01", gap(mean_abs=1.01))
        self.assertIn("shape [3] against [3, 1]", gap(shape=[3, 1]))
        self.assertIn("3 finite elements against 2", gap(finite=2))

    def test_vectors_may_have_either_sign(self):
        def gap(operation, direction, **other):
            means = op_compare.compared(operation, direction)
            return op_compare.difference([SUM], [{**SUM, **other}], "f32", means)

        self.assertEqual(gap("eigh", "forward", mean=-0.5), "")
        self.assertIn("mean 0.5 against -0.5", gap("qr", "forward", mean=-0.5))
        self.assertIn("absolute values 1 against 2", gap("eigh", "forward", mean_abs=2.0))
        self.assertEqual(gap("eigh", "backward", mean_abs=2.0), "")
        self.assertIn("finite elements", gap("eigh", "backward", finite=2))

    def test_results_that_one_side_drops_are_not_compared(self):
        self.assertEqual(op_compare.difference([SUM], [SUM, {**SUM, "mean": 9.0}], "f32"), "")
        self.assertEqual(op_compare.difference([None], [SUM], "f32"), "")
        self.assertEqual(op_compare.difference([], [], "f32"), "")
        self.assertEqual(op_compare.difference([], [SUM], "f32"), "one of them has no results")

    def test_plot_has_a_dot_for_each_row(self):
        rows = [{"operation": "a<b", "case": "big", "dtype": dtype, "pass": direction,
                 "layout": "contiguous", "threads": 1, "ratio": ratio}
                for dtype, direction, ratio in (("f32", "forward", 0.1), ("i64", "backward", 9.0))]
        tree = xml.etree.ElementTree.fromstring(
            report.format_plot(rows, {"cpu": "a & b", "cores": 2}))
        space = "{http://www.w3.org/2000/svg}"
        dots = [dot for dot in tree.iter(space + "circle") if dot.find(space + "title") is not None]
        self.assertEqual([dot.find(space + "title").text for dot in dots],
                         ["a<b/big f32 forward contiguous 1t: 0.10",
                          "a<b/big i64 backward contiguous 1t: 9.00"])
        self.assertGreater(float(dots[0].get("cy")), float(dots[1].get("cy")))
        for dot in dots:
            self.assertTrue(report.TOP <= float(dot.get("cy")) <= report.TOP + report.PLOT_HEIGHT)


class TorchTest(unittest.TestCase):
    """PyTorch's side, where it is installed."""

    def setUp(self):
        try:
            import numpy  # pylint: disable=import-outside-toplevel,unused-import
            import torch  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("there is no PyTorch")
        sys.path.insert(0, PEERS)
        import torch_operations  # pylint: disable=import-outside-toplevel
        self.torch, self.operations = torch, torch_operations

    def describe(self, operation, **more):
        return {"operation": operation, "internal": "", "without_vectors": "", "random": False,
                "inputs": [], "attrs": {}, "defaults": {}, **more}

    def test_golden_cases_give_the_function(self):
        peers, x = self.operations.Peers(), self.torch.tensor([[1.0, 2.0], [4.0, 3.0]])
        call = peers.call(self.describe("sum", attrs={"dims": [1]}, defaults={"keepdim": False}),
                          {"x": x})
        self.assertEqual(call().tolist(), [3.0, 7.0])
        # A default is passed where the case's function has none.
        call = peers.call(self.describe("softmax", defaults={"dim": -1}), {"x": x})
        self.assertEqual(call().shape, x.shape)
        call = peers.call(self.describe("stack", attrs={"dim": 1}),
                          {"tensors.0": x, "tensors.1": x})
        self.assertEqual(call().shape, (2, 2, 2))

    def test_adapters_take_the_operations_attributes(self):
        peers, tensor = self.operations.Peers(), self.torch.tensor
        call = peers.call(self.describe("lp_pool2d", attrs={"p": 1.0}, defaults={
            "kernel": [2], "stride": [2], "ceil_mode": False}), {"x": self.torch.ones(1, 1, 2, 4)})
        self.assertEqual(call().tolist(), [[[[4.0, 4.0]]]])
        call = peers.call(self.describe("scatter_nd", attrs={"reduce": 0}), {
            "x": tensor([1.0, 2.0]), "indices": tensor([[1], [1]]), "updates": tensor([3.0, 4.0])})
        self.assertEqual(call().tolist(), [1.0, 9.0])
        call = peers.call(self.describe("unique", defaults={"dim": 0, "flat": True}),
                          {"x": tensor([3, 1, 3])})
        values, first, _, counts = call()
        self.assertEqual((values.tolist(), first, counts.tolist()), ([1, 3], None, [1, 2]))

    def test_boxes_are_torchvisions(self):
        """The golden cases' definitions in Python would be no opponents."""
        try:
            import torchvision  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("there is no torchvision")
        peers, tensor = self.operations.Peers(), self.torch.tensor
        boxes = tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])
        inputs = {
            "roi_align": {"x": self.torch.ones(1, 2, 5, 5), "boxes": boxes},
            "roi_pool": {"x": self.torch.ones(1, 2, 5, 5), "boxes": boxes},
            "nms": {"boxes": boxes[:, 1:], "scores": tensor([0.5])},
            "batched_nms": {"boxes": boxes[:, 1:], "scores": tensor([0.5]),
                            "classes": tensor([3])},
            "stochastic_depth": {"x": self.torch.ones(2, 3), "state": tensor([7, 100])},
            "deform_conv2d": {"x": self.torch.ones(1, 2, 3, 3),
                              "offset": self.torch.zeros(1, 8, 2, 2),
                              "weight": self.torch.ones(1, 2, 2, 2)},
        }
        attrs = {"roi_align": {"output_size": [2]}, "roi_pool": {"output_size": [2]},
                 "nms": {"iou_threshold": 0.4}, "batched_nms": {"iou_threshold": 0.4},
                 "stochastic_depth": {"p": 0.5, "training": True, "together": True},
                 "deform_conv2d": {"stride": [1], "padding": [0], "dilation": [1], "groups": 1}}
        for name, given in inputs.items():
            call = peers.call(self.describe(name, attrs=attrs[name]), given)
            with unittest.mock.patch.object(torchvision.ops, name,
                                            side_effect=getattr(torchvision.ops, name)) as called:
                call()
            called.assert_called_once()

    def test_random_operations_have_peers(self):
        peers, state = self.operations.Peers(), self.torch.tensor([7, 100])
        ones = self.torch.ones(3, 4)
        for name, given, attrs in (
                ("binomial", {"count": ones, "prob": ones / 2}, {}),
                ("rand_gamma", {"shape_parameter": ones}, {"log": False}),
                ("gumbel_softmax", {"x": ones}, {"tau": 1.0, "hard": False, "dim": -1})):
            call = peers.call(self.describe(name, random=True, defaults=attrs),
                              {**given, "state": state})
            self.assertEqual(call().shape, ones.shape)

    def test_reasons_why_there_is_none(self):
        peers = self.operations.Peers()
        inout = [{"name": "param.0", "shape": [9], "inout": True}]
        for call, words in (
                (self.describe("relu_grad", internal="the gradient of relu"), "gradient of relu"),
                (self.describe("dance"), "no golden cases"),
        ):
            with self.assertRaisesRegex(self.operations.NoPeer, words):
                peers.check(call)
        with self.assertRaisesRegex(self.operations.NoPeer, "in place"):
            self.operations.Peers({"sgd_step": []}).check(self.describe("sgd_step", inputs=inout))
        with self.assertRaisesRegex(self.operations.NoPeer, "no golden case takes x, speed"):
            peers.call(self.describe("exp", attrs={"speed": 9}), {"x": self.torch.ones(2)})


if __name__ == "__main__":
    unittest.main()
