#ifndef FIRN_TENSOR_KERNELS_CPU_BATCH_NORM_H_
#define FIRN_TENSOR_KERNELS_CPU_BATCH_NORM_H_

// Batch normalisation over a ChannelView: one parallel loop over groups of channels, both passes
// over a group back to back while it is in cache.

#include "device/parallel.h"
#include "tensor/kernels/cpu/channels.h"
#include "tensor/kernels/fused_activation.h"

namespace firn::cpu {

// Mean and biased variance of the `block` channels of group g, in double. Sums are of differences
// to the channel's first value, so that a mean far from 0 costs no digits.
template <class T, class Acc>
void GroupStatistics(const ChannelView& v, const T* x, int64_t g, double* mean, double* var) {
  Acc shift[kLanes];
  SpreadLanes(x + v.offset(0, g), 0, v.block, Acc{0}, shift);
  double sum[kChannelBlock] = {}, squares[kChannelBlock] = {};
  for (int64_t n = 0; n < v.batch; ++n) {
    const T* run = x + v.offset(n, g);
    Acc s[kLanes] = {}, q[kLanes] = {}, folded[kChannelBlock];
    ForEachLane(v.run, [&](int64_t i, int64_t j) {
      const Acc d = static_cast<Acc>(run[i]) - shift[j];
      s[j] += d;
      q[j] += d * d;
    });
    FoldLanes(s, v.block, folded);
    for (int64_t b = 0; b < v.block; ++b) sum[b] += static_cast<double>(folded[b]);
    FoldLanes(q, v.block, folded);
    for (int64_t b = 0; b < v.block; ++b) squares[b] += static_cast<double>(folded[b]);
  }
  const auto count = static_cast<double>(v.per_channel());
  for (int64_t b = 0; b < v.block; ++b) {
    const double m = sum[b] / count;
    mean[b] = static_cast<double>(shift[b]) + m;
    var[b] = std::max(0.0, squares[b] / count - m * m);
  }
}

// Sums over a group of dz and of dz * (x - mean), per channel.
template <FusedActivation kActivation, class T, class Acc>
void GroupGradSums(const ChannelView& v, const T* x, const T* y, const T* dy, int64_t g,
                   const Acc* mean, double* sum_dz, double* sum_dz_x) {
  std::fill(sum_dz, sum_dz + v.block, 0.0);
  std::fill(sum_dz_x, sum_dz_x + v.block, 0.0);
  for (int64_t n = 0; n < v.batch; ++n) {
    const int64_t at = v.offset(n, g);
    Acc s[kLanes] = {}, q[kLanes] = {}, folded[kChannelBlock];
    ForEachLane(v.run, [&](int64_t i, int64_t j) {
      const Acc out = kActivation == FusedActivation::kNone ? Acc{0} : static_cast<Acc>(y[at + i]);
      const Acc dz = ActivationGrad<kActivation>(static_cast<Acc>(dy[at + i]), out);
      s[j] += dz;
      q[j] += dz * (static_cast<Acc>(x[at + i]) - mean[j]);
    });
    FoldLanes(s, v.block, folded);
    for (int64_t b = 0; b < v.block; ++b) sum_dz[b] += static_cast<double>(folded[b]);
    FoldLanes(q, v.block, folded);
    for (int64_t b = 0; b < v.block; ++b) sum_dz_x[b] += static_cast<double>(folded[b]);
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_BATCH_NORM_H_
