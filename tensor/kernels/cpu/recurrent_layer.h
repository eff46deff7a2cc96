#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_LAYER_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_LAYER_H_

// What the kernels of recurrent layers share.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "firn/tensor/kernels/cpu/gemm.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/in_f32.h"
#include "firn/tensor/kernels/cpu/recurrent_product.h"
#include "firn/tensor/kernels/cpu/recurrent_steps.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/recurrent/recurrent.h"

namespace firn::cpu {

// The one kernel in `full_types()`, which takes f32 and f64, for half types too: in f32, with operands
// converted before and after.
template <const std::vector<Kernel>& (*full_types)()>
Kernel ForEveryType() {
  Kernel kernel = full_types()[0];
  kernel.workspace = nullptr;
  kernel.prepare = [](const KernelQuery& q, Prepared& answer) {
    if (IsHalf(q.in(0).dtype)) {
      const Kernel in_f32 = InF32<full_types>();
      answer.run = in_f32.run;
      return in_f32.prepare(q, answer);
    }
    answer.workspace = full_types()[0].workspace(q);
    return absl::OkStatus();
  };
  return kernel;
}

// `x`: the sequences, or what has their shape.
TimeSteps StepsOf(const Shape& x, int64_t batch, const RecurrentLayerAttrs& attrs);

// Hands out workspace in pieces aligned to a cache line; over null it counts.
class RecurrentScratch {
 public:
  explicit RecurrentScratch(void* base = nullptr) : base_(static_cast<char*>(base)) {}
  template <class T>
  T* Take(int64_t elements) {
    char* const piece = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<size_t>(elements) * sizeof(T) + 63) & ~size_t{63};
    return reinterpret_cast<T*>(piece);
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

// a b^T of x's rows and w_ih, both dense, into columns of rows that are `c_row` elements apart.
GemmShape InputProduct(int64_t rows, int64_t columns, int64_t depth, int64_t c_row);
// a^T b over all rows: the gradient of a weight.
GemmShape WeightProduct(int64_t rows, int64_t m, int64_t n);

// Writes `bias` into every row of `width` elements.
template <class T>
void FillRows(const T* bias, int64_t rows, int64_t width, T* to) {
  ParallelFor(rows, std::max<int64_t>(1, 65536 / width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::copy_n(bias, width, to + i * width);
  });
}

// Packs a weight, on all threads.
template <class T>
void PackAll(Panels<T>& panels, const T* weight) {
  ParallelFor(panels.count(), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) panels.Pack(weight, i);
  });
}

template <class T>
StepGrid PlanFor(const TimeSteps& steps, const PanelShape& s, bool whole_rows = false) {
  const double elements = static_cast<double>(s.groups * s.units) * static_cast<double>(s.depth);
  return PlanSteps(steps, Panels<T>::Count(s), 2 * elements * static_cast<double>(steps.batch),
                   elements * sizeof(T), whole_rows);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_LAYER_H_
