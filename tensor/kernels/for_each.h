#ifndef FIRN_TENSOR_KERNELS_FOR_EACH_H_
#define FIRN_TENSOR_KERNELS_FOR_EACH_H_

// One body, two devices (README.md shows one). A portable kernel is a struct whose Run makes bodies
// and hands them to `on`, which is a cpu::Runner or a cuda::Runner:
//
//   struct PadKernel {
//     static constexpr Takes kTakes = Takes::kStrided;       // optional
//     template <class On>
//     static size_t Workspace(const KernelQuery& q);         // optional
//     template <class On>
//     static absl::Status Run(const On& on, KernelContext& k);
//   };
//
//   On::kDevice                           the device's type
//   On::kLanes                            channels of a block that a body may take at once
//   on.ForEach(n, body)                   body(i) for every i < n, in any order, side by side
//   on.Fold(spec, fold, workspace)        one result from all elements i of a tensor: fold.add(i)
//   On::FoldBytes<Acc>(spec)              of workspace for that
//   on.Indices(site, low, high, ignored) gives a body the meaning of an index
//
// Bodies run in the order in which they are handed over; on a device they are only queued when Run
// returns.
//
// A body is a trivially copyable struct of pointers and numbers, made anew for every call:
//
//   FIRN_HOST_DEVICE void operator()(int64_t i) const;
//   // Optional: the same for a range, where the CPU gains from work that neighbours share.
//   void operator()(int64_t begin, int64_t end) const;
//   // Optional: about how many elements one i reads and writes; default 1.
//   int64_t cost() const;
//
// kernels/cuda/reduce.cuh defines folds.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/op.h"

namespace firn {

template <class Word>
struct ZeroBody {
  Word* to;
  FIRN_HOST_DEVICE void operator()(int64_t i) const { to[i] = 0; }
  void operator()(int64_t begin, int64_t end) const { std::fill(to + begin, to + end, Word{0}); }
};

// A tensor of zeros.
template <class On>
absl::Status FillZeros(const On& on, const TensorSpec& spec, void* to) {
  return VisitWidth(spec.dtype, [&]<class Word>(TypeTag<Word>) {
    return on.ForEach(spec.num_elements(), ZeroBody<Word>{static_cast<Word*>(to)});
  });
}

// An array as another type; for floating types and integers that fit.
template <class From, class To>
struct CastBody {
  const From* from;
  To* to;
  FIRN_HOST_DEVICE void operator()(int64_t i) const { to[i] = static_cast<To>(from[i]); }
};

// For ranges of bodies: the rows of `length` elements, or their parts, that make up [begin, end).
// Calls f(row, first, last): elements row * length + first up to row * length + last.
template <class F>
void ForEachRowOf(int64_t begin, int64_t end, int64_t length, const F& f) {
  if (begin >= end) return;
  int64_t row = begin / length, first = begin % length;
  for (int64_t left = end - begin; left > 0; ++row, first = 0) {
    const int64_t last = std::min(length, first + left);
    f(row, first, last);
    left -= last - first;
  }
}

namespace inner::internal {

template <class Portable, class On>
absl::Status RunPortable(KernelContext& k) {
  return Portable::Run(On(k), k);
}

}  // namespace inner::internal

// A device's kernels of an operation: those in `before`, which are faster, and then the portable
// one, which takes what they refuse. `entry` has the portable kernel's other members.
template <class Portable, class On>
std::vector<Kernel> PortableKernels(Kernel entry, std::vector<Kernel> before) {
  entry.device = On::kDevice;
  entry.run = inner::internal::RunPortable<Portable, On>;
  if constexpr (requires(const KernelQuery& q) { Portable::template Workspace<On>(q); }) {
    entry.workspace = Portable::template Workspace<On>;
  }
  if constexpr (requires { Portable::kTakes; }) entry.takes = Portable::kTakes;
  before.push_back(entry);
  return before;
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_FOR_EACH_H_
