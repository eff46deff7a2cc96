#!/usr/bin/env python3
"""The time of data parallelism on many machines, computed from what one machine takes.

  tools/scripts/scaling_model.py            prints the tables of docs/scaling.md
  tools/scripts/scaling_model.py --check    fails if that page has others

The model and its assumptions stand on the page.
"""

import argparse
import math
import os
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "scaling.md")
BEGIN, END = "<!-- tables of tools/scripts/scaling_model.py -->\n", "<!-- end of the tables -->\n"

# Workloads as benchmarks/data_parallel measured them on one core: a step of one rank, in seconds,
# and the bytes of its gradients.
WORKLOADS = {
    "deep_cnn, 64 per rank": (0.205, 41.6e6),
    "ResNet-18, 32 per rank": (0.419, 44.7e6),
    "GPT, 8 per rank": (0.160, 12.8e6),
}
# Networks: seconds until the first byte is there, and bytes a second one way.
NETWORKS = {
    "10 Gb/s Ethernet, TCP": (30e-6, 1.1e9),
    "40 Gb/s Ethernet, usNIC": (1.93e-6, 37.23e9 / 8),
    "200 Gb/s InfiniBand": (1.2e-6, 23e9),
}
RANKS = (8, 64, 1024)
BUCKET, FIRST_BUCKET = 25 * 2**20, 2**20
# The part of a step that computes gradients while others are reduced: the backward pass is two of
# three parts of the multiply-adds.
BACKWARD = 2 / 3
# The seconds that one core takes to add up a received byte: benchmarks/collectives, 16 MiB.
ADD = 1 / 4e9


def buckets_of(size):
    """The sizes of the buckets."""
    sizes = [min(size, FIRST_BUCKET)]
    size -= sizes[0]
    while size > 0:
        sizes.append(min(size, BUCKET))
        size -= sizes[-1]
    return sizes


def reduce_s(size, ranks, latency, bandwidth):
    """An all-reduce by halving and doubling: Rabenseifner's, in Thakur et al. 2005."""
    rounds = 2 * math.ceil(math.log2(ranks))
    moved = (ranks - 1) / ranks * size
    return rounds * latency + 2 * moved / bandwidth + moved * ADD


def step_s(compute, size, ranks, network):
    """A step: the last bucket cannot begin before the backward pass is over."""
    latency, bandwidth = network
    times = [reduce_s(bucket, ranks, latency, bandwidth) for bucket in buckets_of(size)]
    ready, end = compute * (1 - BACKWARD), 0.0
    for i, took in enumerate(times):
        # Buckets become full one after the other, evenly.
        begin = ready + compute * BACKWARD * (i + 1) / len(times)
        end = max(end, begin) + took
    return max(compute, end)


def table():
    lines = ["| network, batch; connection: scaling efficiency | " +
             " | ".join(f"{ranks} ranks" for ranks in RANKS) + " |", "|---|" + "---|" * len(RANKS)]
    for workload, (compute, size) in WORKLOADS.items():
        for network, of in NETWORKS.items():
            share = [compute / step_s(compute, size, ranks, of) for ranks in RANKS]
            lines.append(f"| {workload}; {network} | " +
                         " | ".join(f"{x:.2f}" for x in share) + " |")
    return "\n".join(lines) + "\n"


def smallest_step_s(size, ranks, network, share=0.9):
    """The shortest step of one rank with which `share` of its speed is left."""
    low, high = 1e-6, 1e3
    for _ in range(100):
        middle = math.sqrt(low * high)
        enough = middle / step_s(middle, size, ranks, network) >= share
        low, high = (low, middle) if enough else (middle, high)
    return high


def limits():
    lines = ["| the shortest step with an efficiency of 0.9, ms | " +
             " | ".join(f"{ranks} ranks" for ranks in RANKS) + " |", "|---|" + "---|" * len(RANKS)]
    for megabytes in (1, 10, 100, 1000):
        for network, of in NETWORKS.items():
            ms = [smallest_step_s(megabytes * 1e6, ranks, of) * 1e3 for ranks in RANKS]
            lines.append(f"| {megabytes} MB of gradients; {network} | " +
                         " | ".join(f"{x:.3g}" for x in ms) + " |")
    return "\n".join(lines) + "\n"


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the page")
    parser.add_argument("--page", default=PAGE)
    args = parser.parse_args(argv)
    text = table() + "\n" + limits()
    if not args.check:
        print(text, end="")
        return 0
    with open(args.page, encoding="utf-8") as page:
        stands = page.read().partition(BEGIN)[2].partition(END)[0]
    if stands.strip() == text.strip():
        return 0
    print(f"{args.page} has other tables than tools/scripts/scaling_model.py prints")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
