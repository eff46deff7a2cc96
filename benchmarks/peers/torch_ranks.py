"""Times training steps of several processes by PyTorch's DistributedDataParallel over gloo.

It is for ../ranks_compare.py and prints one JSON line, the same as ../data_parallel.cc with --json. Steps
in which each rank trains alone and steps together take turns, with a barrier before and after each.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hash_values  # noqa: E402  (needs the path above)
import torch_models  # noqa: E402

WARM_UP_ROUNDS = 2


class LossOf(nn.Module):
    """What DistributedDataParallel wraps: it looks at forward() alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return self.model.loss(x, y)


def make_step(args, wrap):
    """A function that trains on the next batch."""
    model = torch_models.build(args.workload, args.depth, args.batch).train()
    optimizer = torch_models.make_optimizer("adam", model.parameters(), fused=True)
    loss_of = wrap(LossOf(model))
    batches = [model.batch(step, args.batch) for step in range(hash_values.BATCHES)]
    done = 0

    def step():
        nonlocal done
        x, y = batches[done % len(batches)]
        done += 1
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def run(args):
    torch.set_flush_denormal(True)
    torch.set_num_threads(args.threads)
    dist.init_process_group("gloo", init_method=f"file://{args.meet}", rank=args.rank,
                            world_size=args.ranks)
    steps = {"alone_ms": make_step(args, lambda loss_of: loss_of),
             "together_ms": make_step(args, lambda loss_of: nn.parallel.DistributedDataParallel(
                 loss_of, gradient_as_bucket_view=True))}
    times = {name: [] for name in steps}
    for index in range(-WARM_UP_ROUNDS, args.rounds):
        for name, step in steps.items():
            dist.barrier()
            begin = time.perf_counter()
            step()
            dist.barrier()
            if index >= 0:
                times[name].append((time.perf_counter() - begin) * 1e3)
    if args.rank == 0:
        print(json.dumps(times), flush=True)
    dist.destroy_process_group()


def start(argv, ranks):
    """All ranks on this machine; the exit status of the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        processes = [subprocess.Popen([sys.executable, __file__, *argv, "--rank", str(rank),
                                       "--meet", os.path.join(folder, "meet")])
                     for rank in range(ranks)]
        return next((code for code in [p.wait() for p in processes] if code), 0)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rank", type=int, help="of this process (none: starts all)")
    parser.add_argument("--meet", help="the file at which ranks meet")
    args = parser.parse_args(argv)
    if args.rank is None:
        return start(argv, args.ranks)
    return run(args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
