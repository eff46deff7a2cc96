#ifndef FIRN_TENSOR_KERNELS_CPU_SPREAD_PLANES_H_
#define FIRN_TENSOR_KERNELS_CPU_SPREAD_PLANES_H_

// Gradients of pooling: each plane of a larger image is filled from a plane of values. Small planes
// are computed several at a time, and half types as floats in a small workspace that stays in
// cache: converting planes one by one, or the result as a whole, takes longer than the gradient.

#include <algorithm>
#include <type_traits>

#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/parts.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/problems/images.h"

namespace firn::cpu {
namespace internal {

// Elements of planes that are worked on together.
inline constexpr int64_t kPlaneGroup = 4096;

// The most floats that all parts of the work need for planes of `spec`, in any layout.
inline int64_t SpreadRoom(const TensorSpec& spec) {
  const int64_t block = std::min<int64_t>(kChannelBlock, std::max<int64_t>(1, spec.shape[1]));
  const int64_t one = ImageOf(spec.shape).volume() * block;
  return std::min(kMaxParts * std::max(kPlaneGroup, one), spec.num_elements() + kPlaneGroup);
}

}  // namespace internal

// The workspace of SpreadPlanes.
inline size_t SpreadPlanesBytes(const KernelQuery& q) {
  if (!IsHalf(q.out().dtype)) return 0;
  const int64_t floats = internal::SpreadRoom(q.in(0)) + internal::SpreadRoom(q.out());
  return static_cast<size_t>(floats) * sizeof(float);
}

// Calls add(first, planes, values, sums, std::integral_constant<int, block>) for the planes of
// input 0 and of the result, some neighbours at a time and in parallel: it adds the contributions
// of `values` to planes first, first + 1, ... of the result to `sums`, which are 0.
template <class T, class F>
void SpreadPlanes(KernelContext& k, const F& add) {
  using Acc = ComputeOf<T>;
  constexpr bool kDirect = std::is_same_v<T, Acc>;
  const TensorSpec& out = k.out_spec();
  const int64_t lanes = out.layout.blocked() ? out.layout.channel_block : 1;
  const int64_t from_run = ImageOf(k.in_spec(0).shape).volume() * lanes;
  const int64_t to_run = ImageOf(out.shape).volume() * lanes;
  const T* const x = k.in<T>(0);
  T* const y = k.out<T>();
  const int64_t planes = out.shape[0] * out.shape[1] / lanes,
                largest = std::max<int64_t>({1, from_run, to_run});
  const int64_t together = std::max<int64_t>(1, internal::kPlaneGroup / largest);
  const int64_t groups = CeilDiv(planes, together);
  const int64_t grain = std::max<int64_t>(1, 16384 / (largest * together));
  const auto run = [&](auto block, int64_t begin, int64_t end, Acc* values, Acc* sums) {
    for (int64_t first = begin * together; first < std::min(planes, end * together);
         first += together) {
      const int64_t count = std::min(together, planes - first);
      if constexpr (kDirect) sums = y + first * to_run;
      std::fill(sums, sums + count * to_run, Acc{0});
      add(first, count, ViewAs(x + first * from_run, count * from_run, values), sums, block);
      if constexpr (!kDirect) FromFloats(sums, count * to_run, y + first * to_run);
    }
  };
  const auto all = [&](auto block) {
    if constexpr (kDirect) {
      ParallelFor(groups, grain,
                  [&](int64_t begin, int64_t end) { run(block, begin, end, nullptr, nullptr); });
    } else {
      const int64_t room = together * (from_run + to_run);
      ForEachPart(groups, grain, [&](int64_t part, int64_t begin, int64_t end) {
        Acc* const sums = k.workspace<Acc>() + part * room;
        run(block, begin, end, sums + together * to_run, sums);
      });
    }
  };
  lanes == 1 ? all(std::integral_constant<int, 1>())
             : all(std::integral_constant<int, static_cast<int>(kChannelBlock)>());
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_SPREAD_PLANES_H_
