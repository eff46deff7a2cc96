#ifndef FIRN_BENCHMARKS_VERSUS_STATS_H_
#define FIRN_BENCHMARKS_VERSUS_STATS_H_

// Statistics of interleaved blocks of steps, as compare_stats.py has them.

#include <utility>
#include <vector>

namespace firn::benchmarks {

// Times of steps in milliseconds, by block.
using Blocks = std::vector<std::vector<double>>;

// The q-quantile (0..1) with linear interpolation between the sorted values. Requires: there is
// one.
double Quantile(std::vector<double> values, double q);
inline double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

struct BlockSummary {
  double median_ms;  // of the medians of blocks: a disturbed block weighs no more than another
  double spread;     // their interquartile range
  double min_ms;     // the fastest single step
};
// Requires: no block is empty, and there is one.
BlockSummary Summarize(const Blocks& blocks);

struct RatioInterval {
  double ratio, low, high;
};
// Median time over the reference's, with its 95 % bootstrap interval. Rounds are resampled, not
// blocks: block i of both ran side by side, so a slow minute of the machine hits both and cancels.
// Requires: as many blocks as the reference.
RatioInterval PairedRatio(const Blocks& blocks, const Blocks& reference);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_VERSUS_STATS_H_
