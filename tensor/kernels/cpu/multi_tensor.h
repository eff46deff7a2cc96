#ifndef FIRN_TENSOR_KERNELS_CPU_MULTI_TENSOR_H_
#define FIRN_TENSOR_KERNELS_CPU_MULTI_TENSOR_H_

// Loops over the elements of many tensors as if they stood one behind the other, so that threads
// get equal shares for any sizes of tensors.

#include <algorithm>
#include <cstdint>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// Elements of one block: a few times 10 us of work, and little enough for the second-level cache.
inline constexpr int64_t kMultiTensorBlock = 65536;

// The inputs first, first + cycle, first + 2 cycle, ... of a kernel in a row. Input i and those
// before the next have as many elements as input i.
class TensorSeries {
 public:
  TensorSeries(const KernelContext& k, int first, int cycle) : k_(k), first_(first), cycle_(cycle) {
    for (int i = first; i < k.num_inputs(); i += cycle) size_ += k.in_spec(i).num_elements();
  }

  int64_t num_blocks() const { return (size_ + kMultiTensorBlock - 1) / kMultiTensorBlock; }

  // Calls f(input, begin, end) for every piece of a tensor that block `block` covers.
  template <class F>
  void VisitBlock(int64_t block, F f) const {
    const int64_t begin = block * kMultiTensorBlock;
    const int64_t end = std::min(size_, begin + kMultiTensorBlock);
    int64_t start = 0;  // of the tensor in the series
    for (int i = first_; i < k_.num_inputs() && start < end; i += cycle_) {
      const int64_t n = k_.in_spec(i).num_elements();
      const int64_t from = std::max(begin, start), to = std::min(end, start + n);
      if (from < to) f(i, from - start, to - start);
      start += n;
    }
  }

  // The same for all blocks, in parallel. f may be called from several threads at once.
  template <class F>
  void ForEachPiece(F f) const {
    ParallelFor(num_blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) VisitBlock(b, f);
    });
  }

 private:
  const KernelContext& k_;
  int first_, cycle_;
  int64_t size_ = 0;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MULTI_TENSOR_H_
