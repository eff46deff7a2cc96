#!/usr/bin/env python3
"""Times every operation's large sample in Firn and in PyTorch, side by side.

Two long-lived workers make the same calls on the same numbers: op_worker, which has the samples,
and peers/torch_op_worker.py, which is told them and has PyTorch's functions from the golden cases.
A round gives each a block of calls, in random order. Results are compared first: a pair that does
not compute the same has no row, and neither has a call that PyTorch does not know; both are named
with the reason. Examples:

  benchmarks/op_compare.py --quick --python=/path/to/venv/bin/python
  bazel run //benchmarks:op_compare -- --operations=matmul,softmax --dtypes=f32,bf16 \\
      --python=/path/to/venv/bin/python --json=/tmp/ops.json --plot=/tmp/ops.svg

"ratio" is Firn's median time over PyTorch's: below 1, Firn is faster. The worst come first. Claim
nothing when the interval contains 1, or when others keep the machine busy.

With --other=PATH the second worker is another build's op_worker, and "PyTorch" and "peer" stand
for it:

  benchmarks/op_compare.py --quick --firn=portable/op_worker --other=native/op_worker

A backward pass is the gradient of sum(y * g) with respect to all floating inputs, timed alone.
Layout "transposed" swaps the last two dimensions of the inputs in memory. Operations on integers
and bools run in their own dtype.
"""

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time

import compare_machine
import op_compare_profile
import op_compare_report as report
from compare_programs import enter_callers_folder
from compare_stats import ratio_interval, summarize
from compare_worker import Worker, WorkerError

# Under `bazel run` the script is a link.
HERE = os.path.dirname(os.path.realpath(__file__))
FLOATING = ["f32", "f64", "bf16", "f16"]
PASSES = ["forward", "backward"]
LAYOUTS = ["contiguous", "transposed"]
MOST_CALLS = 1000
SIGNS_ARE_FREE = {"eigh", "svd"}
# Results may differ by this share of their mean absolute element. The bound is there to find calls that
# differ, not to judge rounding, so it is wide: sums of millions of elements are taken in any order.
TOLERANCE = {"f64": 1e-6, "f32": 1e-3, "f16": 0.02, "bf16": 0.1}


class Side:
    """One framework's worker, started again after it died. Not thread-safe."""

    def __init__(self, name, argv, threads, preload=None):
        self.name = name
        self._start = lambda: Worker(argv, threads, preload)
        self._worker = self._start()

    def request(self, **command):
        """Does what Worker.request does; the error names the framework."""
        if self._worker is None:
            self._worker = self._start()
        try:
            return self._worker.request(command)
        except WorkerError as error:
            if not error.refused:  # it is dead, or still computes an answer that came too late
                self.close()
            raise WorkerError(f"{self.name}: {error}", refused=error.refused) from error

    @property
    def pid(self):
        return self._worker.pid

    def close(self):
        if self._worker is not None:
            self._worker.close()
        self._worker = None


class OtherFirn(Side):
    """Another build's op_worker, which is asked what a peer is asked."""

    def request(self, **command):
        if command["cmd"] == "check":  # it has every call; calls that users make time the others
            internal = command["call"]["internal"]
            return {"reason": f"users do not call it: {internal}"} if internal else {}
        if command["cmd"] == "setup":
            call = command.pop("call")
            command.update(operation=call["operation"], case=call["case"])
        return super().request(**command)


class Skipped:
    """What has no row, by reason."""

    def __init__(self):
        self.reasons = {}

    def add(self, reason, what):
        self.reasons.setdefault(reason, []).append(what)


def compared(operation, direction):
    """Which means of results must agree. Vectors of factorisations may have either sign, and gradients
    depend on the signs, so these may differ."""
    if operation not in SIGNS_ARE_FREE:
        return ("mean", "mean_abs")
    return ("mean_abs",) if direction == "forward" else ()


def difference(ours, theirs, dtype, means=("mean", "mean_abs")):
    """How two lists of summaries differ, or "". One may have results that the other drops."""
    if not ours or not theirs:
        return "" if ours == theirs else "one of them has no results"
    for index, (a, b) in enumerate(zip(ours, theirs)):
        if a is None or b is None:  # a gradient that is zero everywhere may be left out
            continue
        if a["shape"] != b["shape"]:
            return f"result {index} has shape {a['shape']} against {b['shape']}"
        if a["finite"] != b["finite"]:
            return f"result {index} has {a['finite']} finite elements against {b['finite']}"
        allowed = TOLERANCE.get(dtype, 1e-9) * max(a["mean_abs"], b["mean_abs"])
        if max((abs(a[key] - b[key]) for key in means), default=0) > allowed:
            return (f"result {index} has mean {a['mean']:.6g} against {b['mean']:.6g}, of absolute "
                    f"values {a['mean_abs']:.6g} against {b['mean_abs']:.6g}")
    return ""


def calls_in(seconds, ms):
    """How many calls of `ms` each a block of so many seconds has."""
    return min(max(round(seconds * 1e3 / max(ms, 1e-6)), 1), MOST_CALLS)


class Run:
    """Measures cases one after another and collects rows."""

    def __init__(self, args, firn, peer):
        self.args, self.firn, self.peer = args, firn, peer
        self.rows, self.skipped = [], Skipped()
        self._deadline = time.monotonic() + args.budget if args.budget else None
        self._folder = None

    def run(self):
        with tempfile.TemporaryDirectory() as self._folder:
            for operation, case in self._chosen():
                print(f"{operation}/{case} ...", file=sys.stderr, flush=True)
                try:
                    self._run_case(operation, case)
                except WorkerError as error:
                    self.skipped.add(str(error), f"{operation}/{case}")

    def _chosen(self):
        """The (operation, case) to measure."""
        known = {one["operation"]: one["cases"]
                 for one in self.firn.request(cmd="list")["operations"]}
        names = self.args.operations.split(",") if self.args.operations else list(known)
        for name in names:
            if name not in known:
                self.skipped.add("it has no large sample", name)
        if not self.args.quick:
            return [(name, case) for name in names for case in known.get(name, [])]
        if not self.args.operations:  # the rest of the budget is then spread over all families
            random.Random(1).shuffle(names)
        return [(name, known[name][0]) for name in names if name in known]

    def _run_case(self, operation, case):
        what = f"{operation}/{case}"
        if self._late():
            self.skipped.add(f"not reached within {self.args.budget:g} s", what)
            return
        call = self.firn.request(cmd="describe", operation=operation, case=case,
                                 folder=self._folder)
        reason = self.peer.request(cmd="check", call=call).get("reason")
        if reason:
            self.skipped.add(reason, operation)
            return
        without = set()  # the case does not have these passes
        for dtype in self._dtypes(call, what):
            for layout in self._layouts(call, what):
                for direction in self.args.passes:
                    for threads in self.args.threads:
                        if direction not in without:
                            self._measure(call, dtype, layout, direction, threads, without)

    def _dtypes(self, call, what):
        if call["dtypes"][0] not in FLOATING:
            return [d for d in call["dtypes"] if self.args.dtypes is None or d in self.args.dtypes]
        wanted = [d for d in self.args.dtypes or FLOATING if d in FLOATING]
        for dtype in wanted:
            if dtype not in call["dtypes"]:
                self.skipped.add(f"Firn's operation does not take {dtype}", what)
        return [dtype for dtype in wanted if dtype in call["dtypes"]]

    def _layouts(self, call, what):
        for layout in self.args.layouts:
            if layout not in call["layouts"]:
                self.skipped.add(f"no input can be {layout}", what)
        return [layout for layout in self.args.layouts if layout in call["layouts"]]

    def _late(self):
        return self._deadline is not None and time.monotonic() > self._deadline

    def _measure(self, call, dtype, layout, direction, threads, without):
        row = {"operation": call["operation"], "case": call["case"], "dtype": dtype,
               "pass": direction, "layout": layout, "threads": threads}
        if self._late():
            self.skipped.add(f"not reached within {self.args.budget:g} s", report.label(row))
            return
        try:
            same = {"dtype": dtype, "layout": layout, "pass": direction, "threads": threads,
                    "device": self.args.device}
            ours = self.firn.request(cmd="setup", operation=call["operation"], case=call["case"],
                                     **same)
            theirs = self.peer.request(cmd="setup", call=call, **same)
            gap = difference(ours["results"], theirs["results"], dtype,
                             compared(call["operation"], direction))
            if gap and not call["random"]:
                self.skipped.add(f"PyTorch computes something else: {gap}", report.label(row))
                return
            self.rows.append({**row, **self._race({self.firn: ours["ms"], self.peer: theirs["ms"]})})
            if self.args.profile and self.rows[-1]["ratio"] > report.MOST:
                self.rows[-1]["profile"] = self._profile(self.rows[-1]["firn_ms"])
        except WorkerError as error:
            if "no gradient flows" in str(error):
                without.add(direction)
            self.skipped.add(str(error), report.label(row))

    def _profile(self, ms):
        """A second of the calls that were timed last."""
        return op_compare_profile.profile(
            self.firn.pid, lambda: self.firn.request(cmd="block", calls=calls_in(1, ms)))

    def _race(self, ms):
        """Blocks of both in turns, which take the same time. If the faster one made as few calls as the
        slower one, all would be its first calls after a wait, when its data have left the cache."""
        calls = {side: calls_in(self.args.block_seconds, ms[side]) for side in ms}
        blocks = {self.firn: [], self.peer: []}
        for _ in range(self.args.rounds):
            for side in random.sample(list(blocks), 2):
                compare_machine.wait_until_quiet(self.args.patience)
                blocks[side].append(self._block(side, calls[side]))
        ours, theirs = blocks[self.firn], blocks[self.peer]
        ratio, low, high = ratio_interval(ours, theirs, resamples=500)
        return {"firn_ms": summarize(ours)["median_ms"], "peer_ms": summarize(theirs)["median_ms"],
                "ratio": ratio, "_interval": (low, high)}

    def _block(self, side, calls):
        """The ms of each of these calls or, by the processor's time, their mean."""
        if self.args.clock == "wall":
            return side.request(cmd="block", calls=calls)["ms"]
        before = processor_ms(side.pid)
        side.request(cmd="block", calls=calls)
        return [(processor_ms(side.pid) - before) / calls]


def processor_ms(pid):
    """How long the first thread of a process has had a processor."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as numbers:
        return int(numbers.read().split()[0]) / 1e6


def list_of(known):
    """A parser of comma-separated words, each one of `known`."""
    def parse(text):
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(known)}")
        return words
    return parse


def parse_args(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", metavar="NAME,...", help="only these")
    parser.add_argument("--dtypes", type=list_of(FLOATING + ["i8", "i32", "i64", "u8", "bool"]),
                        help="only these (all; quick: not f64, bf16 and f16)")
    parser.add_argument("--passes", type=list_of(PASSES), default=PASSES)
    parser.add_argument("--layouts", type=list_of(LAYOUTS), help="(both; quick: contiguous)")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")],
                        metavar="N,...", help="(1,2; quick: 1)")
    parser.add_argument("--device", default="cpu",
                        help="cpu or cuda: there the calls of a block are queued, and waited for "
                             "together")
    parser.add_argument("--quick", action="store_true",
                        help="about a minute: the first case of each operation, few short rounds")
    parser.add_argument("--rounds", type=int, help="blocks each (7; quick: 3)")
    parser.add_argument("--block-seconds", type=float, help="length of a block (0.1; quick: 0.01)")
    parser.add_argument("--budget", type=float, metavar="S",
                        help="start no more after S seconds (never; quick: 60)")
    parser.add_argument("--patience", type=float, default=0.0, metavar="S",
                        help="wait up to S seconds for a quiet machine before each block")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: each process's processor time, for busy machines")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")],
                        help="pin everything to these, e.g. 0,1")
    parser.add_argument("--firn", metavar="PATH", default=os.path.join(
        os.path.dirname(HERE), "bazel-bin", "benchmarks", "op_worker"))
    parser.add_argument("--python", default=sys.executable, help="one that has PyTorch")
    parser.add_argument("--other", metavar="PATH",
                        help="another build's op_worker, instead of PyTorch")
    parser.add_argument("--peer-preload", metavar="LIB", help="LD_PRELOAD for PyTorch")
    parser.add_argument("--profile", action="store_true",
                        help=f"say where Firn's time goes in rows above {report.MOST} (needs perf)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE", help="an SVG of the sorted ratios")
    args = parser.parse_args(argv)
    standard = {"layouts": ["contiguous"], "threads": [1], "rounds": 3, "block_seconds": 0.01,
                "budget": 60.0} if args.quick else {
                    "layouts": LAYOUTS, "threads": [1, 2], "rounds": 7, "block_seconds": 0.1}
    if args.quick and args.dtypes is None:
        args.dtypes = ["f32", "i8", "i32", "i64", "u8", "bool"]
    for key, value in standard.items():
        if getattr(args, key) is None:
            setattr(args, key, value)
    if min(args.rounds, *args.threads) < 1:
        parser.error("--rounds and --threads must be positive")
    if args.clock == "cpu" and (args.threads != [1] or args.device != "cpu"):
        parser.error("--clock=cpu counts one thread: it goes with --threads=1 and --device=cpu")
    if args.profile and op_compare_profile.missing():
        parser.error(f"--profile: {op_compare_profile.missing()}")
    return args


def start_peer(args):
    """The second worker and its version; raises WorkerError where there is no PyTorch."""
    if args.other:
        return OtherFirn("the other build", [args.other], max(args.threads)), args.other
    argv = [args.python, os.path.join(HERE, "peers", "torch_op_worker.py")]
    try:
        peer = Side("PyTorch", argv, max(args.threads), args.peer_preload)
        return peer, peer.request(cmd="version")["version"]
    except WorkerError as error:
        raise WorkerError(f"{error}\n{args.python} must be able to import torch and numpy: give "
                          "one that is with --python") from error


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    if args.cores:
        os.sched_setaffinity(0, args.cores)
    about = compare_machine.describe()
    with contextlib.ExitStack() as stack:
        try:
            firn = Side("Firn", [args.firn], max(args.threads))
            stack.callback(firn.close)
            peer, version = start_peer(args)
            stack.callback(peer.close)
            run = Run(args, firn, peer)
            run.run()
        except WorkerError as error:
            print(error)
            return 1
    about["versions"] = {"other" if args.other else "torch": version}
    rows = sorted(run.rows, key=lambda row: -row["ratio"])
    print(report.format_report(rows, run.skipped.reasons))
    if args.json:
        report.write_json(args.json, rows, run.skipped.reasons, about)
    if args.plot:
        report.write_plot(args.plot, rows, about)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
