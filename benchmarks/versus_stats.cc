// Every statistic starts from the medians of blocks.
#include "benchmarks/versus_stats.h"

#include <algorithm>
#include <random>

#include "firn/device/check.h"

namespace firn::benchmarks {
namespace {

constexpr int kResamples = 2000;

std::vector<double> Medians(const Blocks& blocks) {
  std::vector<double> medians;
  for (const std::vector<double>& block : blocks) medians.push_back(Median(block));
  return medians;
}

}  // namespace

double Quantile(std::vector<double> values, double q) {
  FIRN_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(position);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (position - static_cast<double>(low)) * (values[high] - values[low]);
}

BlockSummary Summarize(const Blocks& blocks) {
  const std::vector<double> medians = Medians(blocks);
  BlockSummary s{Median(medians), Quantile(medians, 0.75) - Quantile(medians, 0.25), blocks[0][0]};
  for (const std::vector<double>& block : blocks) {
    s.min_ms = std::min(s.min_ms, *std::min_element(block.begin(), block.end()));
  }
  return s;
}

RatioInterval PairedRatio(const Blocks& blocks, const Blocks& reference) {
  FIRN_CHECK(blocks.size() == reference.size());
  const std::vector<double> ours = Medians(blocks), theirs = Medians(reference);
  std::mt19937_64 random(1);
  std::uniform_int_distribution<size_t> draw(0, ours.size() - 1);
  std::vector<double> ratios, a(ours.size()), b(ours.size());
  for (int i = 0; i < kResamples; ++i) {
    for (size_t j = 0; j < ours.size(); ++j) {
      const size_t round = draw(random);
      a[j] = ours[round];
      b[j] = theirs[round];
    }
    ratios.push_back(Median(a) / Median(b));
  }
  return {Median(ours) / Median(theirs), Quantile(ratios, 0.025), Quantile(ratios, 0.975)};
}

}  // namespace firn::benchmarks
