#ifndef FIRN_TENSOR_KERNELS_CPU_FOR_EACH_H_
#define FIRN_TENSOR_KERNELS_CPU_FOR_EACH_H_

// Portable kernels on the CPU's threads: see kernels/for_each.h.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// Elements worth a thread.
inline constexpr int64_t kBodyGrain = 16384;

// body(i) for every i < n, on all threads.
template <class Body>
void ForEach(int64_t n, const Body& body) {
  int64_t cost = 1;
  if constexpr (requires { body.cost(); }) cost = std::max<int64_t>(1, body.cost());
  ParallelFor(n, std::max<int64_t>(1, kBodyGrain / cost), [&](int64_t begin, int64_t end) {
    const Body own = body;  // a local copy, whose members can stay in registers
    if constexpr (requires { own(begin, end); }) {
      own(begin, end);
    } else {
      for (int64_t i = begin; i < end; ++i) own(i);
    }
  });
}

// `fold` over elements [begin, end), combined in halves of halves.
template <class Fold>
typename Fold::Acc FoldRange(const Fold& fold, int64_t begin, int64_t end) {
  constexpr int64_t kLeaf = 512;
  constexpr int kStates = 8;
  if (end - begin > kLeaf) {
    const int64_t middle = begin + (end - begin) / 2;
    return fold.combine(FoldRange(fold, begin, middle), FoldRange(fold, middle, end));
  }
  typename Fold::State s[kStates];  // which do not wait for each other
  for (auto& state : s) state = fold.start();
  int64_t i = begin;
  for (; i + kStates <= end; i += kStates) {
#pragma GCC unroll 8
    for (int j = 0; j < kStates; ++j) fold.add(s[j], 0, i + j);
  }
  for (; i < end; ++i) fold.add(s[0], 0, i);
  typename Fold::Acc total = fold.total(s[0]);
  for (int j = 1; j < kStates; ++j) total = fold.combine(total, fold.total(s[j]));
  return total;
}

class Runner {
 public:
  static constexpr DeviceType kDevice = DeviceType::kCpu;
  static constexpr int kLanes = static_cast<int>(kChannelBlock);

  explicit Runner(const KernelContext&) {}

  template <class Body>
  absl::Status ForEach(int64_t n, const Body& body) const {
    cpu::ForEach(n, body);
    return absl::OkStatus();
  }
  template <class F>
  absl::Status Fold(const TensorSpec& over, const F& fold, void*) const {
    fold.store(0, FoldRange(fold, 0, over.num_elements()));
    return absl::OkStatus();
  }
  template <class Acc>
  static size_t FoldBytes(const TensorSpec&) {
    return 0;
  }
  CheckedRange Indices(const IndexSite&, int64_t, int64_t high,
                       int64_t ignored = kNoneIgnored) const {
    return {high, ignored};
  }
};

// An operation's kernels on the CPU; see PortableKernels.
template <class Kernels>
std::vector<Kernel> Portable(Kernel entry = {.name = "loop"}, std::vector<Kernel> before = {}) {
  return PortableKernels<Kernels, Runner>(entry, std::move(before));
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_FOR_EACH_H_
