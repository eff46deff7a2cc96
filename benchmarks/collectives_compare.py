#!/usr/bin/env python3
"""Times all-reduces among processes in Firn and by plain MPI, side by side.

Plain MPI is a C program that calls MPI_Allreduce in a loop (peers/mpi_allreduce.c), compiled here by
`mpicc`. A round starts both under the same launcher, in random order. Examples:

  bazel run //benchmarks:collectives_compare
  benchmarks/collectives_compare.py --ranks=2 --rounds=9 --json=/tmp/collectives.json

Bus bandwidth is defined as in nccl-tests: bytes x 2 (n - 1) / n over the time of a call.
"share" is Firn's over MPI's: above 1, Firn is faster. Claim nothing when the interval contains 1, or
when others keep the machine busy.
"""

import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

import compare_machine
from compare_programs import HERE, Arguments, RunError, compare, enter_callers_folder, json_lines
from compare_stats import ratio_interval

SIZES = ",".join(str(1 << bits) for bits in range(10, 27, 2))  # 1 kB to 64 MiB
SIDES = ("firn", "mpi")


def compile_peer(mpicc, folder):
    """The C program, in `folder`."""
    program = os.path.join(folder, "mpi_allreduce")
    try:
        done = subprocess.run([*shlex.split(mpicc), "-O2", "-o", program,
                               os.path.join(HERE, "peers", "mpi_allreduce.c")],
                              capture_output=True, text=True, check=False)
    except OSError as error:
        raise RunError(f"cannot start {mpicc}: {error.strerror}") from error
    if done.returncode:
        raise RunError(f"{mpicc} does not compile mpi_allreduce.c: {done.stderr[-600:]}")
    return program


def command(args, peer, side):
    launcher = [*shlex.split(args.mpirun), "-n", str(args.ranks)]
    if side == "mpi":
        return [*launcher, peer, str(args.seconds), *args.bytes.split(",")]
    return [*launcher, args.firn, f"--seconds={args.seconds}", f"--bytes={args.bytes}"]


def measure(args, peer):
    """A row for each size."""
    runs = {side: [] for side in SIDES}
    for _ in range(args.rounds):
        for side in random.sample(SIDES, len(SIDES)):
            compare_machine.wait_until_quiet(args.patience)
            runs[side].append({line["bytes"]: line["us"]
                               for line in json_lines(command(args, peer, side), threads=1)})
    return [make_row(size, args.ranks, runs) for size in runs["firn"][0]]


def make_row(size, ranks, runs):
    us = {side: [run[size] for run in runs[side]] for side in SIDES}
    share, low, high = ratio_interval([[t] for t in us["mpi"]], [[t] for t in us["firn"]],
                                      resamples=500)
    moved = size * 2 * (ranks - 1) / ranks
    row = {"bytes": size, "share": {"share": share, "low": low, "high": high}}
    for side in SIDES:
        median = statistics.median(us[side])
        row[side] = {"us": median, "gb_per_s": moved / median * 1e-3}
    return row


def format_report(rows):
    lines = [f"{'bytes':>10} {'Firn us':>10} {'GB/s':>7} {'MPI us':>10} {'GB/s':>7}  share (95 %)"]
    for row in rows:
        line = f"{row['bytes']:10d}"
        for side in SIDES:
            line += f" {row[side]['us']:10.1f} {row[side]['gb_per_s']:7.2f}"
        of = row["share"]
        lines.append(f"{line}  {of['share']:.2f} ({of['low']:.2f}..{of['high']:.2f})")
    return "\n".join(lines)


def parse_args(argv):
    parser = Arguments(__doc__, firn="collectives", rounds=5)
    parser.add_argument("--bytes", default=SIZES, help="sizes (%(default)s)")
    parser.add_count("ranks", 2, "2 or more")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each size (%(default)s)")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe", help="(%(default)s)")
    parser.add_argument("--mpicc", default="mpicc", help="(%(default)s)")
    args = parser.parse_args(argv)
    if args.ranks < 2 or args.seconds <= 0:
        parser.error("--ranks must be 2 or more, --seconds positive")
    if not all(size.isdecimal() and int(size) > 0 for size in args.bytes.split(",")):
        parser.error(f"--bytes must be positive numbers, got '{args.bytes}'")
    return args


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        rows = lambda about: {"rows": measure(args, compile_peer(args.mpicc, folder))}
        return compare(rows, format_report, f"{args.ranks} ranks", args.json)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
