"""Statistics of interleaved timing blocks: robust summaries and a bootstrap of their ratio."""

import random
import statistics


def quantile(values, q):
    """The q-quantile (0..1) with linear interpolation between the sorted values."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def summarize(blocks):
    """Summary of a worker's blocks (each a list of step times, ms).

    A block counts once, by its median step, so that one disturbed second does not weigh as much as
    many quiet ones. spread is the interquartile range of the block medians. min_ms is the fastest
    single step, which a noisy machine disturbs least.
    """
    medians = [statistics.median(block) for block in blocks]
    return {
        "median_ms": statistics.median(medians),
        "spread": quantile(medians, 0.75) - quantile(medians, 0.25),
        "min_ms": min(min(block) for block in blocks),
    }


def ratio_interval(blocks, reference, resamples=2000, seed=1):
    """(ratio, low, high): median time over the reference's, with its 95 % bootstrap interval.

    Rounds are resampled, not blocks: block i of both ran in the same round, side by side, so a slow
    minute of the machine hits both and cancels.
    """
    ours = [statistics.median(block) for block in blocks]
    theirs = [statistics.median(block) for block in reference]
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} blocks against {len(theirs)}: rounds must pair up")
    rng = random.Random(seed)
    rounds = range(len(ours))
    ratios = []
    for _ in range(resamples):
        drawn = rng.choices(rounds, k=len(rounds))
        ratios.append(statistics.median(ours[i] for i in drawn) /
                      statistics.median(theirs[i] for i in drawn))
    ratio = statistics.median(ours) / statistics.median(theirs)
    return ratio, quantile(ratios, 0.025), quantile(ratios, 0.975)


def largest_gap(losses, reference):
    """The largest relative difference between two loss sequences (over their common length)."""
    return max((abs(a - b) / max(abs(b), 1e-3) for a, b in zip(losses, reference)), default=0.0)
