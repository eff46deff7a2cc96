#!/usr/bin/env python3
"""Times training on several ranks in Firn and by PyTorch's DistributedDataParallel, side by side.

Each round starts both, in random order, as processes of this machine: `mpirun` for Firn, gloo for
PyTorch. Each of the two times steps of one rank alone and steps together, in turns. Examples:

  bazel run //benchmarks:ranks_compare -- --python=/path/to/venv/bin/python
  benchmarks/ranks_compare.py --python=/path/to/venv/bin/python --workloads=gpt:8 --rounds=9

A workload is NAME:BATCH (benchmarks/workload.h), where BATCH is the batch of each rank. "scaling" is
the steps a second that ranks make together over those that they make alone. "ratio" is Firn's time for
a step together over PyTorch's: below 1, Firn is faster. Claim nothing when the interval contains 1, or
when others keep the machine busy.

The Python needs torch.
"""

import argparse
import random
import shlex
import statistics
import sys

import compare_machine
from compare_programs import Arguments, compare, enter_callers_folder, json_lines
from compare_stats import ratio_interval

SIDES = ("firn", "torch")


class Run:
    """Measures all workloads in turns."""

    def __init__(self, args):
        self.args = args

    def command(self, side, workload, batch):
        options = [f"--workload={workload}", f"--batch={batch}", f"--rounds={self.args.steps}",
                   f"--threads={self.args.threads}"]
        if side == "torch":
            return [self.args.python, self.args.peer, *options, f"--ranks={self.args.ranks}"]
        return [*shlex.split(self.args.mpirun), "-n", str(self.args.ranks), self.args.firn,
                *options, "--json", *(["--frozen"] if self.args.frozen else [])]

    def row(self, workload, batch):
        blocks = {side: [] for side in SIDES}
        for _ in range(self.args.rounds):
            for side in random.sample(SIDES, len(SIDES)):
                compare_machine.wait_until_quiet(self.args.patience)
                blocks[side] += json_lines(self.command(side, workload, batch), self.args.threads)
        return make_row(f"{workload}:{batch}", blocks)


def make_row(name, blocks):
    """Medians of the runs of both sides, a block of each a round."""
    row = {"workload": name}
    for side in SIDES:
        alone, together = ([block[part] for block in blocks[side]]
                           for part in ("alone_ms", "together_ms"))
        scaling, low, high = ratio_interval(alone, together, resamples=500)
        row[side] = {"together_ms": statistics.median(map(statistics.median, together)),
                     "scaling": scaling, "low": low, "high": high}
    ratio, low, high = ratio_interval(*([block["together_ms"] for block in blocks[side]]
                                        for side in SIDES), resamples=500)
    row["ratio"] = {"ratio": ratio, "low": low, "high": high}
    return row


def format_report(rows):
    lines = [f"{'workload':16} {'Firn ms':>9}  {'scaling (95 %)':19} {'torch ms':>9}  "
             f"{'scaling (95 %)':19}  ratio (95 %)"]
    for row in rows:
        line = f"{row['workload']:16}"
        for side in SIDES:
            of = row[side]
            scaling = f"{of['scaling']:.2f} ({of['low']:.2f}..{of['high']:.2f})"
            line += f" {of['together_ms']:9.1f}  {scaling:19}"
        of = row["ratio"]
        lines.append(f"{line}  {of['ratio']:.2f} ({of['low']:.2f}..{of['high']:.2f})")
    return "\n".join(lines)


def workload(text):
    name, _, batch = text.partition(":")
    if not name or not batch.isdecimal() or int(batch) < 1:
        raise argparse.ArgumentTypeError(f"a workload is NAME:BATCH, as deep_cnn:64, got '{text}'")
    return name, int(batch)


def parse_args(argv):
    parser = Arguments(__doc__, firn="data_parallel", rounds=5)
    parser.add_argument("--workloads", type=lambda text: [workload(w) for w in text.split(",")],
                        default="deep_cnn:64,resnet18:32,gpt:8", help="(%(default)s)")
    parser.add_count("steps", 7, "of each kind a run")
    parser.add_count("ranks", 2, "processes")
    parser.add_count("threads", 1, "of each rank")
    parser.add_argument("--frozen", action="store_true", help="Firn's steps are captured")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe", help="(%(default)s)")
    parser.add_python("torch", "torch_ranks.py")
    args = parser.parse_args(argv)
    return args


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    run = Run(args)
    rows = lambda about: {"rows": [run.row(name, batch) for name, batch in args.workloads]}
    return compare(rows, format_report, f"{args.ranks} ranks of {args.threads} threads", args.json)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
