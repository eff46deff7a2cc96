#ifndef FIRN_TENSOR_KERNELS_CPU_CHANNEL_STATISTICS_H_
#define FIRN_TENSOR_KERNELS_CPU_CHANNEL_STATISTICS_H_

#include <cmath>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"

namespace firn::cpu {

// The statistics of one channel, in double.
struct ChannelStatistics {
  double count = 0, mean = 0, var = 0;  // the biased variance, of numbers times `unit`
  double unit = 1;

  ChannelStatistics() = default;
  // Statistics from the sums of differences to one of the values, so that a mean far from 0 costs
  // no digits, and of their squares.
  ChannelStatistics(double n, double first, double sum, double squares)
      : count(n), mean(first + sum / n) {
    const double around = squares / n - (sum / n) * (sum / n);
    var = around > 0 ? around : around * 0;  // NaN stays
  }

  double InverseDeviation(double eps) const {
    if (unit == 1) [[likely]]
      return 1 / std::sqrt(var + eps);
    return unit / std::hypot(std::sqrt(var), std::sqrt(eps) * unit);
  }

  // Statistics of the same numbers, which `for_each` gives, where their squares left the range of
  // Acc.
  template <class Acc, class ForEach>
  void Rescale(double eps, const ForEach& for_each) {
    constexpr double kLeast = kLeastSum<Acc>;
    const bool lost = var < kLeast && eps < kLeast;
    if (std::isfinite(var) && !lost) [[likely]]
      return;
    const ScaledMoments m = ScaledMomentsOf(for_each, static_cast<int64_t>(count));
    if (!m.known) return;
    unit = m.unit;
    mean = m.mean / unit;
    var = m.squares / count;
  }
};

// The sums of dz and of dz xhat over the `count` elements of a channel.
struct GradSums {
  double count, dz, dz_xhat;
};

// Makes them from the sums of dz and dz (x - mean), or, where products left the range of Acc, from
// the numbers dz and x that `for_each(f)` gives f.
template <class Acc, class ForEach>
GradSums GradSumsOf(int64_t count, double dz, double dz_x, Acc mean, Acc invstd,
                    const ForEach& for_each) {
  const auto n = static_cast<double>(count), m = static_cast<double>(mean),
             scale = static_cast<double>(invstd);
  // Sums of 0 are usual: no gradient flows into such channels.
  constexpr double kSteep = 0x1p40;
  const bool lost = scale > kSteep && std::abs(dz_x) < kLeastSum<Acc>;
  if (std::isfinite(dz) && std::isfinite(dz_x) && !lost) [[likely]]
    return {n, dz, dz_x * scale};
  GradSums sums{n, 0, 0};
  for_each([&](double flow, double x) {
    sums.dz += flow;
    sums.dz_xhat += flow * ((x - m) * scale);
  });
  return sums;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CHANNEL_STATISTICS_H_
