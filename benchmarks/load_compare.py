#!/usr/bin/env python3
"""Times reading files of weights in Firn and in the libraries that wrote them, side by side.

safetensors, PyTorch and NumPy write the same weights (500 MB), which each side then reads, every
time in a process of its own that has read nothing before; the files are in the system's cache. A
round takes all in random order. Examples:

  bazel run //benchmarks:load_compare -- --python=/path/to/venv/bin/python
  benchmarks/load_compare.py --python=/path/to/venv/bin/python --rounds=15 --json=/tmp/load.json

"load" is the time of the call alone. "used" adds the time to look at a number of each page, which is
when a mapped file is read. "ratio" is Firn's median over the other's: below 1, Firn is faster. Claim nothing when the
interval contains 1, or when others keep the machine busy.

The Python needs torch, safetensors and numpy.
"""

import contextlib
import os
import random
import sys
import tempfile

import compare_machine
from compare_programs import HERE, Arguments, compare, enter_callers_folder
from compare_stats import ratio_interval, summarize
from compare_worker import Worker, WorkerError

# The files that Firn reads, how it reads each, and the peer that reads it, too.
CASES = {"safetensors, mapped": ("safetensors", 1), "safetensors": ("safetensors", 0),
         ".pt": ("torch", 0), ".npz": ("numpy", 0)}


class Run:
    """Measures all cases in turns."""

    def __init__(self, args):
        self.args = args
        self.peer = [args.python, os.path.join(HERE, "peers", "torch_files.py")]

    def ask(self, argv, command):
        """The answer of a new process."""
        worker = Worker(argv, self.args.threads)
        try:
            return worker.request(command)
        finally:
            worker.close()

    def load(self, case, firn, paths):
        file, mapped = CASES[case]
        command = {"cmd": "load", "file": paths[file], "map": mapped, "reader": file,
                   "clock": self.args.clock}
        return self.ask([self.args.firn] if firn else self.peer, command)

    def run(self, paths):
        """A row for each case."""
        times = {(case, firn): [] for case in CASES for firn in (True, False)}
        for _ in range(self.args.rounds):
            for case, firn in random.sample(list(times), len(times)):
                compare_machine.wait_until_quiet(self.args.patience)
                times[case, firn].append(self.load(case, firn, paths))
        return [self.row(case, times[case, True], times[case, False]) for case in CASES]

    def row(self, case, ours, theirs):
        if ours[0]["tensors"] != theirs[0]["tensors"] or \
                abs(ours[0]["sum"] - theirs[0]["sum"]) > 1e-3 * (1 + abs(theirs[0]["sum"])):
            raise WorkerError(f"{case}: Firn read {ours[0]}, the other {theirs[0]}")
        row = {"case": case}
        for name, parts in {"load": ["load_ms"], "used": ["load_ms", "touch_ms"]}.items():
            both = [[[sum(reply[part] for part in parts)] for reply in side]
                    for side in (ours, theirs)]
            ratio, low, high = ratio_interval(*both, resamples=500)
            row[name] = {"firn_ms": summarize(both[0])["median_ms"],
                         "peer_ms": summarize(both[1])["median_ms"],
                         "ratio": ratio, "low": low, "high": high}
        return row


def format_report(rows):
    head = f"{'Firn ms':>9} {'other ms':>9}  {'ratio (95 %)':20}"
    lines = [f"{'file':20} load: {head} used: {head}".rstrip()]
    for row in rows:
        line = f"{row['case']:20}"
        for part in (row["load"], row["used"]):
            ratio = f"{part['ratio']:.2f} ({part['low']:.2f}..{part['high']:.2f})"
            line += f"       {part['firn_ms']:9.1f} {part['peer_ms']:9.1f}  {ratio:20}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def parse_args(argv):
    parser = Arguments(__doc__, firn="load_worker", rounds=9, what="readings each")
    parser.add_count("megabytes", 500, "of weights")
    parser.add_count("threads", 1, "of each side")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: each process's processor time, for busy machines")
    parser.add_argument("--folder", help="where the files are made (a temporary folder)")
    parser.add_python("safetensors, torch and numpy")
    args = parser.parse_args(argv)
    return args


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    run = Run(args)

    def measure(about):
        about["versions"] = run.ask(run.peer, {"cmd": "version"})["version"]
        with contextlib.ExitStack() as stack:
            folder = args.folder or stack.enter_context(tempfile.TemporaryDirectory())
            paths = run.ask(run.peer, {"cmd": "make", "folder": folder,
                                       "megabytes": args.megabytes})
            return {"rows": run.run(paths)}

    return compare(measure, format_report, f"{args.clock} time; {args.threads} threads", args.json,
                   f"{args.python} must be able to import torch, safetensors and numpy: give one "
                   "that is with --python")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
