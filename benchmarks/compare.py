#!/usr/bin/env python3
"""Times the same training steps in Firn and in other frameworks, side by side.

Every (framework, mode) is a process of its own. A round gives each of them one block of steps, in
random order, so a slow minute of the machine hits all alike; the numbers come from at least ten
rounds. A framework that is not installed, or a mode that fails, is named with its reason and left
out. Examples:

  benchmarks/compare.py --python=/path/to/venv/bin/python
  bazel run //benchmarks:compare -- --quick
  benchmarks/compare.py --workloads=lenet,deep_cnn/d10/b64 --quick --json=results.json
  benchmarks/compare.py --device=cuda --precision=tf32 --python=/path/to/venv/bin/python

A workload is NAME[/dDEPTH][/bBATCH]; a bare name stands for its standard sizes. The ratios are the
median time over that of each of Firn's modes: above 1, Firn is faster; claim nothing when the
interval contains 1. "ready" is the time from nothing to ten steps done, compilation included;
"others" is the share of the machine that other programs took during the blocks: above a few percent
believe only the minima, or let --patience wait for quiet moments.

With --device=cuda every contender trains on that GPU or is left out. PyTorch runs in its CUDA modes,
the device's events time all steps, and the peaks are those of each framework's device allocator.
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import statistics
import sys
import time

import compare_machine
from compare_programs import enter_callers_folder
from compare_stats import largest_gap, ratio_interval, summarize
from compare_worker import Worker, WorkerError

# Under `bazel run` the script is a link.
HERE = os.path.dirname(os.path.realpath(__file__))
STANDARD = {
    "deep_cnn": ["deep_cnn/d10/b16", "deep_cnn/d10/b64"],
    "lenet": ["lenet/b64"],
    "mlp": ["mlp/b1", "mlp/b64"],
    "resnet": ["resnet/b64"],
    "resnet18": ["resnet18/b128"],
    "lstm": ["lstm/b32"],
    "lstm_loop": ["lstm_loop/b32"],
    "gpt": ["gpt/b8"],
    "attention": ["attention/b2"],
    "decode": ["decode/b1"],
}
ASKED_FOR = ["resnet18", "lstm", "lstm_loop", "gpt", "attention", "decode"]  # take a CPU minutes
FIRN_MODES = ["dynamic", "static"]
TORCH_MODES = ["eager", "channels_last", "compiled", "compiled_channels_last"]
TORCH_CUDA_MODES = [
    "cuda_eager", "cuda_channels_last", "cuda_graph", "cuda_graph_channels_last",
    "cuda_reduce_overhead", "cuda_reduce_overhead_channels_last",
    "cuda_max_autotune", "cuda_max_autotune_channels_last"]
PRECISIONS = ["default", "strict", "tf32", "bf16"]
LOSS_STEPS = 10
LOSS_TOLERANCE = {"bf16": 0.1}
USUAL_LOSS_TOLERANCE = 0.02


def parse_workload(text):
    """'deep_cnn/d10/b64' -> {'workload': 'deep_cnn', 'depth': 10, 'batch': 64}."""
    name, *sizes = text.split("/")
    if name not in STANDARD:
        raise ValueError(f"unknown workload '{name}': one of {', '.join(STANDARD)}")
    workload = {"workload": name, "depth": 10 if name == "deep_cnn" else 0, "batch": 64}
    for size in sizes:
        key = {"d": "depth", "b": "batch"}.get(size[:1])
        if key is None or not size[1:].isdigit():
            raise ValueError(f"bad size '{size}' in '{text}': dDEPTH or bBATCH")
        workload[key] = int(size[1:])
    return workload


def parse_workloads(text):
    """A comma-separated list; bare names stand for their standard sizes."""
    names = [full for item in text.split(",") for full in STANDARD.get(item, [item])]
    return [parse_workload(name) for name in names]


def parse_device(text):
    """'cuda' -> 'cuda:0'."""
    if not re.fullmatch(r"cpu|cuda(:\d+)?", text):
        raise ValueError(f"unknown device '{text}': cpu, cuda or cuda:N")
    return "cuda:0" if text == "cuda" else text


def precision_name(args):
    """The name in rows, the same as Firn's PrecisionName: the CPU knows no TF32."""
    if args.device == "cpu":
        return "bf16" if args.precision == "bf16" else "f32"
    return args.precision


def label(workload):
    depth = f"/d{workload['depth']}" if workload["depth"] else ""
    return f"{workload['workload']}{depth}/b{workload['batch']}"


def contenders(args):
    """Every (framework, mode) to try: {'framework', 'mode', 'argv', 'setup', 'preload'}."""
    torch_argv = [args.python, os.path.join(HERE, "peers", "torch_worker.py")]
    on_cpu = args.device == "cpu"
    all_of_them = [
        {"framework": "firn", "mode": mode, "argv": [args.firn], "setup": {"mode": mode}}
        for mode in FIRN_MODES
    ] + [
        {"framework": "other", "mode": mode, "argv": [args.other], "setup": {"mode": mode}}
        for mode in FIRN_MODES if args.other
    ] + [
        {"framework": "torch", "mode": mode, "argv": torch_argv,
         "setup": {"mode": mode, "fused": True}}
        for mode in (TORCH_MODES if on_cpu else TORCH_CUDA_MODES)
    ] + [
        {"framework": "torch", "mode": ("" if on_cpu else "cuda_") + "eager_default_adam",
         "argv": torch_argv,
         "setup": {"mode": "eager" if on_cpu else "cuda_eager", "fused": False}}
    ]
    if args.peer_preload:
        for peer in all_of_them:
            if peer["framework"] != "firn":
                peer["preload"] = args.peer_preload
    wanted = args.modes.split(",") if args.modes else None
    return [c for c in all_of_them
            if wanted is None or c["mode"] in wanted or f"{c['framework']}/{c['mode']}" in wanted]


def reason_to_leave_out(contender):
    """Why a contender cannot run here, or None. Asked before it starts, which may take minutes."""
    if contender["framework"] != "torch":
        return None
    mode, need = contender["mode"], None  # what torch.compile calls, and Triton for a GPU
    if mode.startswith("compiled"):
        need = "C++", os.environ.get("CXX", "g++")
    elif mode.startswith(("cuda_reduce_overhead", "cuda_max_autotune")):
        need = "C", os.environ.get("CC", "gcc")
    if need is None or shutil.which(need[1]) is not None:
        return None
    return f"torch.compile needs a {need[0]} compiler, and there is no {need[1]}"


class Entry:
    """A contender that takes part in one workload."""

    def __init__(self, contender, workload, args):
        self.framework, self.mode = contender["framework"], contender["mode"]
        self.blocks, self.others, self.peak_mb = [], [], 0.0
        self.wall_ms, self.waits = [], 0
        self.worker = Worker(contender["argv"], args.threads, contender.get("preload"))
        try:
            start = time.monotonic()
            told = self.worker.request(
                {"cmd": "setup", **workload, "task": "train", "optimizer": args.optimizer,
                 "threads": args.threads, "device": args.device, "precision": args.precision,
                 "clock": args.clock, **contender["setup"]})
            self.version = told.get("version", "?")
            if told.get("device", "cpu") != args.device:  # a CPU's time says nothing of a GPU's
                raise WorkerError(f"it runs on {told.get('device', 'cpu')}, not on {args.device}")
            self.losses = self.worker.request({"cmd": "losses", "steps": LOSS_STEPS})["losses"]
            self.ready_s = time.monotonic() - start
            self.warm_up_ms = self.worker.request({"cmd": "block", "steps": args.warmup})["ms"]
        except WorkerError:
            self.worker.close()
            raise

    @property
    def name(self):
        return f"{self.framework}/{self.mode}"

    def run_block(self, steps):
        load = compare_machine.OthersLoad(self.worker.pid)
        reply = self.worker.request({"cmd": "block", "steps": steps})
        self.blocks.append(reply["ms"])
        self.waits = max(self.waits, reply.get("waits", 0))
        if "wall_ms" in reply:
            self.wall_ms.append(reply["wall_ms"])
        self.others.append(load.share())

    def finish(self):
        self.peak_mb = self.worker.request({"cmd": "peak"})["peak_mb"]


def late(args):
    return args.budget is not None and time.monotonic() - args.begin > args.budget


def start_entries(workload, args, skipped):
    entries = []
    for contender in contenders(args):
        name = f"{contender['framework']}/{contender['mode']}"
        reason = reason_to_leave_out(contender)
        if late(args):
            reason = f"not reached within {args.budget:g} s"
        if reason is not None:
            skipped.append(f"{label(workload)}: {name} skipped: {reason}")
            continue
        try:
            entries.append(Entry(contender, workload, args))
        except WorkerError as error:
            skipped.append(f"{label(workload)}: {name} skipped: {error}")
    return entries


def run_rounds(entries, args, skipped, what):
    """Interleaves the blocks; an entry whose worker fails leaves the race. Returns the survivors.

    All entries take the same number of steps a block, sized so that the slowest one's block lasts
    about --block-seconds.
    """
    slowest_ms = max(statistics.median(entry.warm_up_ms) for entry in entries)
    steps = min(max(round(args.block_seconds * 1e3 / slowest_ms), 2), 2000)
    racing = list(entries)

    def attempt(entry, action):
        try:
            action()
        except WorkerError as error:
            skipped.append(f"{what}: {entry.name} dropped: {error}")
            racing.remove(entry)

    for done in range(args.rounds):
        if done > 0 and late(args):
            skipped.append(f"{what}: {done} of {args.rounds} rounds within {args.budget:g} s")
            break
        for entry in random.sample(racing, len(racing)):
            compare_machine.wait_until_quiet(args.patience)
            attempt(entry, lambda entry=entry: entry.run_block(steps))
    for entry in list(racing):
        attempt(entry, entry.finish)
    return racing


def rows_of(workload, entries, args, skipped):
    """One result row an entry, in the JSON layout, with '_'-keys for the table alone."""
    references = [entry for entry in entries if entry.framework == "firn"]
    judge = next(iter(references + entries), None)
    tolerance = LOSS_TOLERANCE.get(args.precision, USUAL_LOSS_TOLERANCE)
    rows = []
    for entry in entries:
        gap = largest_gap(entry.losses, judge.losses)
        if entry.waits:
            skipped.append(f"{label(workload)}: {entry.name} waits for its device {entry.waits} "
                           "times in a block, beside reading the loss")
        if gap > tolerance:
            skipped.append(f"{label(workload)}: {entry.name} trains differently from {judge.name}: "
                           f"its first losses are up to {gap:.1%} apart")
        ratios = {firn.mode: ratio_interval(entry.blocks, firn.blocks) for firn in references}
        rows.append({**workload, "precision": precision_name(args), "task": "train",
                     "framework": entry.framework, "mode": entry.mode, "threads": args.threads,
                     "device": args.device, **summarize(entry.blocks),
                     "wall_ms": statistics.median(entry.wall_ms) if entry.wall_ms else None,
                     "peak_mb": entry.peak_mb,
                     "_ratios": ratios, "_ready_s": entry.ready_s, "_version": entry.version,
                     "_others": statistics.median(entry.others)})
    return rows


def run_workload(workload, args, skipped):
    print(f"{label(workload)} ...", file=sys.stderr, flush=True)
    entries = start_entries(workload, args, skipped)
    try:
        racing = run_rounds(entries, args, skipped, label(workload)) if entries else []
        return rows_of(workload, racing, args, skipped)
    finally:
        for entry in entries:
            entry.worker.close()


def format_ratio(ratio):
    return f"{ratio[0]:.2f} ({ratio[1]:.2f}..{ratio[2]:.2f})" if ratio else "-"


def format_table(rows):
    modes = [mode for mode in FIRN_MODES if any(mode in row["_ratios"] for row in rows)]
    heads = " ".join(f"{'to ' + mode + ' (95 %)':20}" for mode in modes)
    lines = [f"{'workload':18} {'framework/mode':30} {'median ms':>10} {'IQR':>8} {'min ms':>9} "
             f"{'images/s':>10} {'peak MB':>8} {'ready s':>8} {'others':>6}  {heads}".rstrip()]
    for row in rows:
        told = " ".join(f"{format_ratio(row['_ratios'].get(mode)):20}" for mode in modes).rstrip()
        images = row["batch"] / row["median_ms"] * 1e3
        lines.append(f"{label(row):18} {row['framework'] + '/' + row['mode']:30} "
                     f"{row['median_ms']:10.3f} {row['spread']:8.3f} {row['min_ms']:9.3f} "
                     f"{images:10.0f} {row['peak_mb']:8.1f} {row['_ready_s']:8.1f} "
                     f"{row['_others']:6.0%}  {told}")
    return "\n".join(lines)


def format_title(args, about):
    """Where, under which precision and by which clock the numbers were taken."""
    where = about["cpu"]
    clock = "the clock" if args.clock == "wall" else "the processor time of each process"
    if args.device != "cpu":
        where, clock = about["gpus"], "the device's events"
    return f"on {args.device} ({where}), precision {precision_name(args)}, times by {clock}"


def write_json(path, rows, about):
    public = [{key: value for key, value in row.items() if not key.startswith("_")} for row in rows]
    with open(path, "w", encoding="utf-8") as out:
        document = {"machine": about, "command": shlex.join(sys.argv), "rows": public}
        json.dump(document, out, indent=1)
        out.write("\n")


def parse_args(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", metavar="NAME,...",
                        help="each NAME[/dDEPTH][/bBATCH]; all, but on the CPU not "
                        "resnet18 and sequences")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--precision", default="default", choices=PRECISIONS,
                        help="default: PyTorch's, f32 with TF32 in a GPU's convolutions")
    parser.add_argument("--modes", help="only these, e.g. eager,firn/static")
    parser.add_argument("--optimizer", default="adam", choices=["adam", "momentum", "sgd"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: processor time, for one thread on a machine with other work")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")],
                        help="pin everything to these, e.g. 0,1")
    parser.add_argument("--quick", action="store_true", help="3 short rounds: a smoke test")
    parser.add_argument("--rounds", type=int, help="blocks each (default 12, quick 3)")
    parser.add_argument("--warmup", type=int, help="steps before the first round (30, on a GPU 200; quick 3)")
    parser.add_argument("--block-seconds", type=float, help="length of a block (1.0, quick 0.2)")
    parser.add_argument("--budget", type=float, metavar="S",
                        help="start no mode and no second round after S seconds (never)")
    parser.add_argument("--patience", type=float, default=0.0, metavar="S",
                        help="wait up to S seconds for a quiet machine before each block")
    parser.add_argument("--firn", metavar="PATH", default=os.path.join(
        os.path.dirname(HERE), "bazel-bin", "benchmarks", "train_worker"))
    parser.add_argument("--other", metavar="PATH",
                        help="another build's train_worker, as a framework called 'other'")
    parser.add_argument("--python", default=sys.executable, help="one that has the peers")
    parser.add_argument("--peer-preload", metavar="LIB", help="LD_PRELOAD for peers, e.g. jemalloc")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args(argv)
    args.begin = time.monotonic()
    standard = {"rounds": 3, "warmup": 3, "block_seconds": 0.2} if args.quick else {
        "rounds": 12, "warmup": 30 if args.device == "cpu" else 200, "block_seconds": 1.0}
    for key, value in standard.items():
        if getattr(args, key) is None:
            setattr(args, key, value)
    try:
        args.device = parse_device(args.device)
        args.workloads = parse_workloads(args.workloads or ",".join(
            name for name in STANDARD if args.device != "cpu" or name not in ASKED_FOR))
    except ValueError as error:
        parser.error(str(error))
    return args


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    if args.cores:
        os.sched_setaffinity(0, args.cores)
    about, skipped, rows = compare_machine.describe(), [], []
    for workload in args.workloads:
        rows += run_workload(workload, args, skipped)
    about["versions"] = {row["framework"]: row["_version"] for row in rows}
    if rows:
        print(format_title(args, about))
    print(format_table(rows))
    for line in skipped:
        print(line)
    if args.json:
        write_json(args.json, rows, about)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
