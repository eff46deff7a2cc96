#!/usr/bin/env python3
"""Times Fourier transforms of 64 lines of f32 in Firn and by pocketfft, side by side.

pocketfft is what scipy.fft calls (peers/scipy_fourier.py). A round starts both, in random order, on
one thread each, and takes processor time. Examples:

  bazel run //benchmarks:fourier_compare -- --python=/path/to/venv/bin/python
  benchmarks/fourier_compare.py --python=/path/to/venv/bin/python --lengths=64,1000,4093 --rounds=3

"ratio" is Firn's median time over pocketfft's: below 1, Firn is faster. Claim nothing when the
interval contains 1, or when others keep the machine busy.

The Python needs scipy.
"""

import random
import statistics
import sys

import compare_machine
from compare_programs import Arguments, RunError, compare, enter_callers_folder, json_lines
from compare_stats import ratio_interval

# Powers of two, other small factors, primes.
LENGTHS = "64,256,1024,4096,16384,60,100,400,1000,10000,127,509,1009,4093,16381"
SIDES = ("firn", "scipy")
TRANSFORMS = ("fft", "rfft")


def measure(args):
    """A row for each length."""
    commands = {"firn": [args.firn], "scipy": [args.python, args.peer]}
    runs = {side: [] for side in SIDES}
    for _ in range(args.rounds):
        for side in random.sample(SIDES, len(SIDES)):
            compare_machine.wait_until_quiet(args.patience)
            runs[side].append(json_lines([*commands[side], *args.lengths.split(",")], threads=1))
    for side in SIDES:
        lengths = [str(line["length"]) for line in runs[side][0]]
        if lengths != args.lengths.split(","):
            raise RunError(f"{side} timed other lengths: {', '.join(lengths)}")
    return [make_row([{side: run[i] for side, run in zip(SIDES, both)}
                      for both in zip(*(runs[side] for side in SIDES))])
            for i in range(len(args.lengths.split(",")))]


def make_row(rounds):
    """Medians of the rounds of one length, {"firn": line, "scipy": line} each."""
    row = {"length": rounds[0]["firn"]["length"]}
    for transform in TRANSFORMS:
        us = {side: [[round[side][f"{transform}_us"]] for round in rounds] for side in SIDES}
        ratio, low, high = ratio_interval(us["firn"], us["scipy"], resamples=500)
        row[transform] = {"ratio": ratio, "low": low, "high": high}
        for side in SIDES:
            row[transform][f"{side}_us"] = statistics.median(block[0] for block in us[side])
    return row


def format_report(rows):
    lines = [f"{'length':>7}" + "".join(
        f"  {transform + ', Firn us':>14} {'pocketfft us':>12}  {'ratio (95 %)':17}"
        for transform in TRANSFORMS).rstrip()]
    for row in rows:
        line = f"{row['length']:7d}"
        for transform in TRANSFORMS:
            of = row[transform]
            ratio = f"{of['ratio']:.2f} ({of['low']:.2f}..{of['high']:.2f})"
            line += f"  {of['firn_us']:14.1f} {of['scipy_us']:12.1f}  {ratio:17}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def parse_args(argv):
    parser = Arguments(__doc__, firn="fourier", rounds=3)
    parser.add_argument("--lengths", default=LENGTHS, help="(%(default)s)")
    parser.add_python("scipy", "scipy_fourier.py")
    args = parser.parse_args(argv)
    if not all(length.isdecimal() and int(length) > 0 for length in args.lengths.split(",")):
        parser.error(f"--lengths must be positive numbers, got '{args.lengths}'")
    return args


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    return compare(lambda about: {"rows": measure(args)}, format_report,
                   "processor time, one thread", args.json)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
