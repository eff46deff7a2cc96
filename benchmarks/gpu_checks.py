#!/usr/bin/env python3
"""Runs what docs/gpu_unverified.md lists in one call, on a machine with a GPU.

  bazel build --config=cuda //tests/... //benchmarks/... //examples/...   # anywhere
  benchmarks/gpu_checks.py OUT [--bin=bazel-bin] [--python=/path/to/venv/bin/python]

Builds nothing. Each step's output goes to OUT/NN_name.txt, rows of benchmarks to OUT/*.json beside
it. A step that fails or takes too long does not stop the others; the table at the end, also in
OUT/summary.txt, says how each went. Exit status 0: nothing failed. `--list` shows the steps.
"""

import argparse
import dataclasses
import fnmatch
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
STAND_IN = "kernels run on the stand-in"  # the text of a test that found no GPU
ON_CPU = "running on the CPU, not on"  # the text of a program that found no GPU
LIBRARIES = ("*matmul*:*linear*:*conv*:*fft*:*cholesky*:*solve*:*inv:*det:*.qr:*.eigh:"
             "*.svd:*attention*")  # kernels of libraries, not of Firn


@dataclasses.dataclass
class Step:
    """A command with a name of its own, in the order of importance."""
    name: str
    argv: list
    limit_s: int
    needs: str = ""  # a program or file without which it is skipped
    environment: dict = dataclasses.field(default_factory=dict)


def cuda_tests(folder):
    """Test programs whose names say that they test CUDA, the conformance suite first."""
    found = glob.glob(os.path.join(folder, "tests", "**", "*cuda*_test"), recursive=True)
    programs = {path for path in found if os.path.isfile(path) and os.access(path, os.X_OK) and
                ".runfiles" not in path}
    programs |= {os.path.join(folder, "tests", path) for path in
                 ("ops/cuda_test", "autograd/graph/cuda_graph_test",
                  "autograd/graph/cuda_nhwc_test", "autograd/graph/cuda_chains_test",
                  "autograd/graph/cuda_streams_test", "tensor/cuda_tensor_test",
                  "tensor/kernels/cuda/attention_test",
                  "tensor/kernels/cuda/dnn_attention_test", "tensor/kernels/cuda/fft_test",
                  "tensor/kernels/cuda/large_test", "tensor/kernels/cuda/long_lines_test",
                  "tensor/kernels/cuda/matrices_test",
                  "tensor/kernels/cuda/rnn_test", "optim/cuda_test",
                  "io/checkpoints/checkpoint_cuda_test",
                  "benchmarks/cuda_trainer_test")}  # missing ones are reported as skipped
    return sorted(programs, key=lambda path: (not path.endswith("/ops/cuda_test"), path))


def name_of(path, folder):
    """'bazel-bin/tests/ops/cuda_test' -> 'ops.cuda_test'."""
    return os.path.relpath(path, os.path.join(folder, "tests")).replace(os.sep, ".")


def train_steps(args, out):
    """Programs that train, timed and not."""
    def program(*path):
        return os.path.join(args.bin, *path)

    mnist, versus = program("examples", "mnist"), program("benchmarks", "static_vs_dynamic")
    profile, compare = program("benchmarks", "profile_step"), os.path.join(HERE, "compare.py")
    steps = [Step("mnist.digits", [mnist, "--device=cuda", "--dataset=digits"], 300, mnist)]
    for precision in ("default", "strict", "tf32", "bf16"):
        name = f"static_vs_dynamic.{precision}"
        steps.append(Step(name, [versus, "--device=cuda", f"--precision={precision}",
                                 f"--json={out}/{name}.json", f"--plot={out}/{name}.svg"]
                          + ([] if precision == "default" else
                             ["--rounds=6", "--workloads=deep_cnn/d10/b64,lenet"]), 400, versus))
    steps.append(Step("static_vs_dynamic.nchw",
                      [versus, "--device=cuda", "--rounds=6", "--workloads=deep_cnn/d10/b64,lenet",
                       f"--json={out}/static_vs_dynamic.nchw.json"], 400, versus,
                      {"FIRN_CUDA_NHWC": "0"}))
    steps.append(Step("static_vs_dynamic.resnet18",
                      [versus, "--device=cuda", "--workloads=resnet18", "--rounds=6",
                       f"--json={out}/static_vs_dynamic.resnet18.json"], 300, versus))
    for precision, workloads in (("default", "deep_cnn/d10/b16,deep_cnn/d10/b64,deep_cnn/d10/b256"),
                                 ("strict", "deep_cnn/d10/b64"), ("default", "lenet,resnet18")):
        name = f"compare.{precision}.{workloads.split('/')[0].split(',')[0]}"
        steps.append(Step(name, [sys.executable, compare, "--device=cuda",
                                 f"--precision={precision}", f"--workloads={workloads}",
                                 f"--python={args.python}", f"--json={out}/{name}.json",
                                 "--firn=" + program("benchmarks", "train_worker")], 1500, "torch"))
    steps.append(Step("op_compare", [
        sys.executable, os.path.join(HERE, "op_compare.py"), "--device=cuda", "--quick",
        "--budget=240", f"--python={args.python}", f"--json={out}/op_compare.json",
        "--firn=" + program("benchmarks", "op_worker")], 300, "torch"))
    for name, cudnn in (("cudnn", "1"), ("own", "0")):
        steps.append(Step(f"op_compare.attention.{name}", [
            sys.executable, os.path.join(HERE, "op_compare.py"), "--device=cuda",
            "--operations=scaled_dot_product_attention", "--dtypes=f16,bf16",
            f"--python={args.python}", f"--json={out}/op_compare.attention.{name}.json",
            "--firn=" + program("benchmarks", "op_worker")], 300, "torch",
                          {"FIRN_CUDNN_ATTENTION": cudnn}))
    operations = program("benchmarks", "op_benchmark")
    steps.append(Step("op_benchmark", [operations, "--device=cuda", "--benchmark_min_time=0.05",
                                       f"--benchmark_out={out}/op_benchmark.json",
                                       "--benchmark_out_format=json"], 400, operations))
    for workload in ("deep_cnn", "lenet"):
        for mode in ([], ["--frozen", "--explain"]):
            name = f"profile.{workload}" + (".frozen" if mode else "")
            steps.append(Step(name, [profile, "--device=cuda", f"--workload={workload}", *mode],
                              120, profile))
    steps.append(Step("mnist.fashion", [mnist, "--device=cuda"], 300, mnist))
    return steps


def sanitizer_steps(args):
    """compute-sanitizer over the conformance suite, and over one training step."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    suite = os.path.join(args.bin, "tests", "ops", "cuda_test")
    graph = os.path.join(args.bin, "tests", "autograd", "graph", "cuda_graph_test")
    kernels = os.path.join(args.bin, "tests", "tensor", "kernels", "cuda")
    common = [sanitizer, "--error-exitcode=1"]
    # The later cases, graphs and repetitions, are slow there and run the same kernels.
    values = "--gtest_filter=Cuda/forward.*:Cuda/gradient.*:Cuda/index.*"
    return [
        *(Step(f"{tool}.{name}", [*common, f"--tool={tool}", os.path.join(kernels, name + "_test")],
               300, sanitizer)
          for name in ("large", "long_lines") for tool in ("memcheck", "racecheck")),
        Step("memcheck.ops", [*common, "--tool=memcheck", suite, values], 1800, sanitizer),
        Step("racecheck.ops", [*common, "--tool=racecheck", suite, values], 2400, sanitizer),
        Step("memcheck.graph", [*common, "--tool=memcheck", graph], 600, sanitizer),
    ]


def all_steps(args, out):
    """Every step of docs/gpu_unverified.md that one machine can run unattended."""
    steps = [Step("nvidia-smi", ["nvidia-smi"], 60, "nvidia-smi")]
    for test in cuda_tests(args.bin):
        steps.append(Step(name_of(test, args.bin), [test], 600, test))
    suite = os.path.join(args.bin, "tests", "ops", "cuda_test")
    steps.append(Step("ops.libraries", [suite, f"--gtest_filter={LIBRARIES}"], 300, suite))
    steps.append(Step("ops.libraries.synchronous", [suite, f"--gtest_filter={LIBRARIES}"], 300,
                      suite, {"FIRN_SYNC_AFTER_LAUNCH": "1"}))
    for math in ("tf32", "winograd"):
        steps.append(Step(f"ops.libraries.{math}",
                          [suite, f"--gtest_filter={LIBRARIES}", f"--math={math}"], 300, suite))
    return steps + train_steps(args, out) + sanitizer_steps(args)


def reason_to_skip(step, args):
    if step.needs == "torch":
        if not shutil.which(args.python):
            return f"there is no {args.python}"
        done = subprocess.run([args.python, "-c", "import torch"], capture_output=True, check=False)
        return "" if done.returncode == 0 else f"{args.python} has no torch"
    if step.needs and not shutil.which(step.needs):
        return f"there is no {step.needs}"
    return ""


def judge(said, has_gpu):
    """How a step went that ended with status 0: without a GPU that says little."""
    if not has_gpu or STAND_IN in said or ON_CPU in said:
        return "NO GPU: it ran without one"
    return "passed, with tests skipped" if "[  SKIPPED ]" in said else "passed"


def run(step, path, limit_s, has_gpu):
    """Runs a step with its output in `path`; returns (how it went, seconds)."""
    start = time.monotonic()
    with open(path, "wb") as output:
        output.write(f"$ {' '.join(step.argv)}\n".encode())
        output.flush()
        try:
            process = subprocess.Popen(step.argv, stdout=output, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, start_new_session=True,
                                       env={**os.environ, **step.environment})
        except OSError as error:
            return f"FAILED: {error.strerror}", 0.0
        try:
            code = process.wait(limit_s)
            how = "passed" if code == 0 else f"FAILED: status {code}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its workers too
            process.wait()
            how = f"TOO SLOW: stopped after {limit_s:.0f} s"
    seconds = time.monotonic() - start
    with open(path, encoding="utf-8", errors="replace") as output:
        return (judge(output.read(), has_gpu) if how == "passed" else how), seconds


def parse_args(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", metavar="OUT", help="folder for what the steps say")
    parser.add_argument("--bin", default=os.path.join(os.path.dirname(HERE), "bazel-bin"),
                        help="what `bazel build --config=cuda` made")
    parser.add_argument("--python", default=sys.executable, help="one that has torch, if any has")
    parser.add_argument("--only", metavar="NAME,...", default="*",
                        help="steps to run, with wildcards: 'ops.*,profile.*'")
    parser.add_argument("--budget", type=float, metavar="S", default=float("inf"),
                        help="seconds for all of it: steps that come later are left out")
    parser.add_argument("--list", action="store_true", help="show the steps and run none")
    args = parser.parse_args(argv)
    if args.out is None and not args.list:
        parser.error("OUT is missing: a folder for what the steps say (or --list)")
    return args


def main(argv):
    args = parse_args(argv)
    out = os.path.abspath(args.out or "OUT")
    args.bin = os.path.abspath(args.bin)
    wanted = args.only.split(",")
    steps = [step for step in all_steps(args, out)
             if any(fnmatch.fnmatch(step.name, pattern) for pattern in wanted)]
    if not steps:
        print(f"gpu_checks.py: no step is called {args.only}", file=sys.stderr)
        return 2
    if args.list:
        for step in steps:
            print(f"{step.name:34} {step.limit_s:5} s  {' '.join(step.argv)}")
        return 0
    os.makedirs(out, exist_ok=True)
    has_gpu = bool(glob.glob("/dev/nvidia[0-9]*"))
    deadline, lines, bad = time.monotonic() + args.budget, [], 0
    for number, step in enumerate(steps, 1):
        left = deadline - time.monotonic()
        reason = "the time is up" if left < 1 else reason_to_skip(step, args)
        how, seconds = (f"skipped: {reason}", 0.0) if reason else run(
            step, os.path.join(out, f"{number:02}_{step.name}.txt"), min(step.limit_s, left), has_gpu)
        bad += not how.startswith(("passed", "skipped"))
        lines.append(f"{step.name:34} {seconds:7.1f} s  {how}")
        print(lines[-1], flush=True)
        with open(os.path.join(out, "summary.txt"), "w", encoding="utf-8") as summary:
            summary.write("\n".join(lines) + "\n")
    print(f"{len(steps)} steps, {bad} failed; outputs in {out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
