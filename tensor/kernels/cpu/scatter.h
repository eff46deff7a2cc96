#ifndef FIRN_TENSOR_KERNELS_CPU_SCATTER_H_
#define FIRN_TENSOR_KERNELS_CPU_SCATTER_H_

// Parts shared by operations that read, write or add at the places that index tensors give.

#include <utility>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/index_rules.h"

namespace firn::cpu {

// Bytes in which the sums of a result are formed: floats for a half type; 0 for other types.
inline size_t SumsBytes(const TensorSpec& y) {
  return IsHalf(y.dtype) ? static_cast<size_t>(y.num_elements()) * sizeof(float) : 0;
}

// Calls add(sums) with the n elements of y to add to: y itself or, for a half type, floats in
// `memory`, SumsBytes long, which are then rounded to y.
template <class T, class Add>
void AddUp(T* y, int64_t n, void* memory, const Add& add) {
  if constexpr (kIsHalf<T>) {
    constexpr int64_t kGrain = 32768;
    float* const sums = static_cast<float*>(memory);
    ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
      ToFloats(y + begin, end - begin, sums + begin);
    });
    add(sums);
    ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
      FromFloats(sums + begin, end - begin, y + begin);
    });
  } else {
    add(y);
  }
}

// AddUp where sums go to `count` runs of `length` elements each, which may be few or all of y:
// `runs` calls its argument f(at) with the start of each. With a half type and few runs, only these
// become floats.
template <class T, class Add, class Runs>
void AddUpRuns(T* y, int64_t n, void* memory, int64_t count, int64_t length, const Runs& runs,
               const Add& add) {
  constexpr int64_t kCost = 64;  // cost of a run beside that of its elements
  if constexpr (kIsHalf<T>) {
    if (count * (length + kCost) < n) {
      float* const sums = static_cast<float*>(memory);
      runs([=](int64_t at) { ToFloats(y + at, length, sums + at); });
      add(sums);
      return runs([=](int64_t at) { FromFloats(sums + at, length, y + at); });
    }
  }
  AddUp(y, n, memory, add);
}

// `op`, whose input `indices` and those after it are checked against op.index_bounds, and
// everything that its gradient saves. The kernel takes input 0 with its strides if the other inputs
// are contiguous, because the zeros to which a gradient is added have strides.
inline OpDef ScatterOp(OpDef op, int indices, size_t (*workspace)(const KernelQuery&),
                       absl::Status (*run)(KernelContext&)) {
  if (op.grad != nullptr) op.saves = {Saved::Input(indices)};
  op.index_inputs = {indices};
  op.kernels = {{.name = "strided",
                 .supports = OthersContiguous,
                 .workspace = workspace,
                 .run = run,
                 .takes = Takes::kStrided},
                {.name = "loop", .workspace = workspace, .run = run}};
  return op;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_SCATTER_H_
