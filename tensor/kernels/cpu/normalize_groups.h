#ifndef FIRN_TENSOR_KERNELS_CPU_NORMALIZE_GROUPS_H_
#define FIRN_TENSOR_KERNELS_CPU_NORMALIZE_GROUPS_H_

// affine_group_norm of x as [n, c, length]: the channels of a group of a sample are a row, whose
// statistics are those of layer_norm, and each channel has a scale and a shift. The gradient reads
// dy and x twice, the second time from a cache if the row is not long: first for the sums of dy and
// of dy xhat for each channel of each sample, from which everything else follows, then
//   dx = invstd (dy w - mean(dy w) - xhat mean(dy w xhat)).

#include <cstdint>
#include <utility>

#include "firn/tensor/kernels/cpu/normalize_rows.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn::cpu {

// How the channels of [n, c, length] are grouped.
struct ChannelGroups {
  int64_t n, groups, channels, length;  // channels of a group

  ChannelGroups(const Shape& x, int64_t num_groups)
      : n(x[0]), groups(num_groups), channels(x[1] / num_groups), length(x[2]) {}
  int64_t rows() const { return n * groups; }
  int64_t cols() const { return channels * length; }
};

namespace internal {

// Calls f(c, channel, at, n) for pieces that make up row r: n elements from `at` on, of `channel`,
// which is the row's channel c.
template <class F>
void ForEachChannelPiece(const ChannelGroups& v, int64_t r, const F& f) {
  for (int64_t c = 0; c < v.channels; ++c) {
    const int64_t channel = r % v.groups * v.channels + c;
    const int64_t begin = r * v.cols() + c * v.length;
    ForEachPiece(v.length, [&](int64_t i, int64_t n) { f(c, channel, begin + i, n); });
  }
}

// A number for each channel: `missing` where it is not given.
template <class Acc>
struct ChannelNumbers {
  RowsIn<Acc> given;
  Acc missing;
  Acc operator[](int64_t c) const { return given.given() ? given[c] : missing; }
};

}  // namespace internal

// Rows [begin, end) of inputs x, weight, bias into outputs y, mean, invstd.
template <class Acc>
void NormalizeGroups(KernelContext& k, const ChannelGroups& v, double eps, int64_t begin,
                     int64_t end) {
  internal::Pieces<Acc> x(RowsIn<Acc>(k, 0));
  const internal::ChannelNumbers<Acc> weight{RowsIn<Acc>(k, 1), 1}, bias{RowsIn<Acc>(k, 2), 0};
  const RowsOut<Acc> y(k, 0);
  alignas(64) Acc result[internal::kNormPiece];
  for (int64_t r = begin; r < end; ++r) {
    const auto found = internal::RowStatistics<true>(x, r * v.cols(), v.cols(), eps);
    const Acc mean = static_cast<Acc>(found.first), invstd = static_cast<Acc>(found.second);
    k.out<Acc>(1)[r] = mean;
    k.out<Acc>(2)[r] = invstd;
    internal::ForEachChannelPiece(v, r, [&](int64_t, int64_t channel, int64_t at, int64_t n) {
      const Acc w = weight[channel], b = bias[channel];
      const Acc* const from = x.At(at, n);
      Acc* const to = y.At(at, result);
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) * invstd * w + b;
      y.Done(at, n, to);
    });
  }
}

// dx of rows [begin, end) of inputs dy, x, weight, mean, invstd; for each of their channels the
// sums of dy xhat and of dy.
template <class Acc>
void NormalizeGroupsGrad(KernelContext& k, const ChannelGroups& v, int64_t begin, int64_t end,
                         std::pair<double, double>* sums) {
  internal::Pieces<Acc> dy(RowsIn<Acc>(k, 0)), x(RowsIn<Acc>(k, 1));
  const internal::ChannelNumbers<Acc> weight{RowsIn<Acc>(k, 2), 1};
  const RowsOut<Acc> dx(k, 0);
  alignas(64) Acc result[internal::kNormPiece];
  for (int64_t r = begin; r < end; ++r) {
    const Acc mean = k.in<Acc>(3)[r], invstd = k.in<Acc>(4)[r];
    std::pair<double, double>* const own = sums + r * v.channels;
    std::fill_n(own, v.channels, std::pair(0.0, 0.0));
    double all_xhat = 0, all = 0;
    internal::ForEachChannelPiece(v, r, [&](int64_t c, int64_t channel, int64_t at, int64_t n) {
      const Acc *const g = dy.At(at, n), *const from = x.At(at, n);
      const auto [with_xhat, alone] = SumPairs<Acc>(n, [=](int64_t i) {
        return std::pair<Acc, Acc>(g[i] * ((from[i] - mean) * invstd), g[i]);
      });
      own[c].first += static_cast<double>(with_xhat);
      own[c].second += static_cast<double>(alone);
      all_xhat += static_cast<double>(weight[channel]) * static_cast<double>(with_xhat);
      all += static_cast<double>(weight[channel]) * static_cast<double>(alone);
    });
    const Acc m = static_cast<Acc>(all / static_cast<double>(v.cols()));
    const Acc mx = static_cast<Acc>(all_xhat / static_cast<double>(v.cols()));
    internal::ForEachChannelPiece(v, r, [&](int64_t, int64_t channel, int64_t at, int64_t n) {
      const Acc w = weight[channel];
      const Acc *const g = dy.At(at, n), *const from = x.At(at, n);
      Acc* const to = dx.At(at, result);
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < n; ++i) {
        to[i] = invstd * (g[i] * w - m - (from[i] - mean) * invstd * mx);
      }
      dx.Done(at, n, to);
    });
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_NORMALIZE_GROUPS_H_
