#!/usr/bin/env python3
"""Times the inference of torchvision's networks in Firn and in ONNX Runtime, side by side.

PyTorch exports each network, with random weights, as an ONNX file, which both then run on the same
batch: Firn's onnx_worker as a captured graph with constant weights, and
peers/onnxruntime_worker.py. A round gives each a block of runs, in random order. Examples:

  bazel run //benchmarks:onnx_compare -- --python=/path/to/venv/bin/python
  benchmarks/onnx_compare.py --networks=resnet50,mobilenet_v2 --exporter=dynamo --cores=0 \\
      --python=/path/to/venv/bin/python --json=/tmp/onnx.json

"ratio" is Firn's median time over ONNX Runtime's: below 1, Firn is faster. Claim nothing when the
interval contains 1, or when others keep the machine busy. "difference" is the largest one between
the two results, relative to the largest number of the result. "off" is the difference between a
result and PyTorch's in f64: for Firn, for ONNX Runtime and for PyTorch in f32.

The Python needs onnxruntime, torch, torchvision, onnx and, for --exporter=dynamo, onnxscript.
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

NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large",
            "efficientnet_b0", "vit_b_16", "swin_t"]
MOST_DIFFERENT = 1e-5  # the largest difference of equal computations


class Run:
    """Measures networks one after another and collects rows."""

    def __init__(self, args, firn, peer, folder):
        self.args, self.firn, self.peer, self.folder = args, firn, peer, folder
        self.rows, self.skipped = [], []

    def run(self):
        for network in self.args.networks:
            print(f"{network} ...", file=sys.stderr, flush=True)
            try:
                self.rows.append(self._measure(network))
            except WorkerError as error:
                self.skipped.append((network, str(error)))
                if not error.refused:
                    break

    def _measure(self, network):
        files = self.peer.request({"cmd": "export", "network": network, "folder": self.folder,
                                   "batch": self.args.batch, "exporter": self.args.exporter})
        setup = {"cmd": "setup", "model": files["model"], "input": files["input"],
                 "threads": self.args.threads}
        result = os.path.join(self.folder, "result.npy")
        ours = {**setup, "result": result, "winograd": int(not self.args.direct)}
        ms = {self.firn: self.firn.request(ours)["ms"],
              self.peer: self.peer.request(setup)["ms"]}
        gaps = self.peer.request({"cmd": "difference", "result": result, "truth": files["truth"]})
        ours, theirs = self._race(ms)
        ratio, low, high = ratio_interval(ours, theirs, resamples=500)
        row = {"network": network, "firn_ms": summarize(ours)["median_ms"],
               "peer_ms": summarize(theirs)["median_ms"], "ratio": ratio, "low": low, "high": high,
               "difference": gaps["difference"],
               "off": {"firn": gaps["off"], "peer": gaps["own_off"], "torch": files["off"]}}
        if self.args.profile:
            row["profile"] = self.firn.request({"cmd": "profile", "calls": 5})["table"]
        return row

    def _race(self, ms):
        """Blocks of both in turns, each of about the same duration."""
        calls = {side: max(1, round(self.args.block_seconds * 1e3 / max(ms[side], 1e-3)))
                 for side in ms}
        blocks = {self.firn: [], self.peer: []}
        for _ in range(self.args.rounds):
            for side in random.sample(list(blocks), 2):
                compare_machine.wait_until_quiet(self.args.patience)
                blocks[side].append(side.request({"cmd": "block", "calls": calls[side],
                                                  "clock": self.args.clock})["ms"])
        return blocks[self.firn], blocks[self.peer]


def format_report(rows, skipped):
    lines = [f"{'network':20} {'Firn ms':>9} {'ORT ms':>9}  {'ratio (95 %)':18} difference  "
             "off: Firn, ORT, PyTorch"]
    for row in rows:
        ratio = f"{row['ratio']:.2f} ({row['low']:.2f}..{row['high']:.2f})"
        far = "" if row["difference"] <= MOST_DIFFERENT else "  too far apart"  # so is NaN
        off = "  ".join(f"{row['off'][side]:.1e}" for side in ("firn", "peer", "torch"))
        lines.append(f"{row['network']:20} {row['firn_ms']:9.2f} {row['peer_ms']:9.2f}  {ratio:18} "
                     f"{row['difference']:.1e}     {off}{far}")
        if "profile" in row:
            lines.append(row["profile"])
    lines += [f"skipped: {network}: {reason}" for network, reason in skipped]
    return "\n".join(lines)


def parse_args(argv):
    parser = Arguments(__doc__, firn="onnx_worker", rounds=9, what="blocks each")
    parser.add_argument("--networks", type=lambda text: text.split(","), default=NETWORKS,
                        metavar="NAME,...", help="torchvision's names (%(default)s)")
    parser.add_count("batch", 1, "images of a run")
    parser.add_count("threads", 1, "of each")
    parser.add_argument("--exporter", choices=["torchscript", "dynamo"], default="torchscript",
                        help="which of PyTorch's (%(default)s)")
    parser.add_argument("--direct", action="store_true",
                        help="no Winograd in Firn, which loses digits where nothing is trained")
    parser.add_argument("--block-seconds", type=float, default=0.5,
                        help="length of a block (%(default)s)")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: each process's processor time, for busy machines")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")],
                        help="pin everything to these, e.g. 0")
    parser.add_argument("--profile", action="store_true",
                        help="say where Firn's time goes, by operation")
    parser.add_python("onnxruntime, torch, torchvision and onnx")
    args = parser.parse_args(argv)
    if args.clock == "cpu" and args.threads != 1:
        parser.error("--clock=cpu counts one thread: it goes with --threads=1")
    return args


def main(argv):
    enter_callers_folder()
    args = parse_args(argv)
    if args.cores:
        os.sched_setaffinity(0, args.cores)

    def measure(about):
        with contextlib.ExitStack() as stack:
            firn = Worker([args.firn], args.threads)
            stack.callback(firn.close)
            peer = Worker([args.python, os.path.join(HERE, "peers", "onnxruntime_worker.py")],
                          args.threads)
            stack.callback(peer.close)
            about["versions"] = peer.request({"cmd": "version"})
            run = Run(args, firn, peer, stack.enter_context(tempfile.TemporaryDirectory()))
            run.run()
            return {"rows": run.rows, "skipped": run.skipped}

    return compare(measure, format_report, f"{args.clock} time", args.json,
                   f"{args.python} must be able to import onnxruntime, torch, torchvision and onnx: "
                   "give one that is with --python")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
