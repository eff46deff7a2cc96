#ifndef FIRN_TENSOR_KERNELS_CPU_CLASS_LOSS_H_
#define FIRN_TENSOR_KERNELS_CPU_CLASS_LOSS_H_

// What losses on class indices share: targets with weights, and means over them.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn::cpu {

// The targets of all samples. T: of the weights (all 1 where null), I: of the indices.
template <class T, class I>
struct Targets {
  using Acc = AccumulatorOf<T>;
  const I* index;
  const T* weights;
  int64_t count, ignored;

  bool ignores(int64_t i) const { return index[i] == ignored; }
  int64_t operator[](int64_t i) const { return index[i]; }
  // 0 where the target is ignored.
  Acc weight(int64_t i) const {
    if (ignores(i)) return 0;
    return weights == nullptr ? Acc{1} : static_cast<Acc>(weights[index[i]]);
  }
  // What the mean divides by.
  double total_weight() const {
    double total = 0;
    for (int64_t i = 0; i < count; ++i) total += static_cast<double>(weight(i));
    return total;
  }
};

// Calls f(TypeTag<T>(), targets): T is the type of input `values`, the targets are input `target`,
// their weights input `target + 1`.
template <class F>
void VisitTargets(const KernelContext& k, int values, int target, int64_t ignored, const F& f) {
  VisitFloat(k.in_spec(values).dtype, [&]<class T>(TypeTag<T> tag) {
    VisitIndex(k.in_spec(target).dtype, [&]<class I>(TypeTag<I>) {
      f(tag, Targets<T, I>{k.in<I>(target), k.in<T>(target + 1), k.in_spec(target).num_elements(),
                           ignored});
    });
  });
}

// Bytes of workspace for the losses of `count` samples before they are reduced.
inline size_t LossWorkspace(int64_t count, Reduction reduction) {
  return reduction == Reduction::kNone ? 0 : static_cast<size_t>(count) * sizeof(double);
}

// The result of a loss from those of its `count` samples.
template <class Acc>
Acc ReduceLosses(const Acc* losses, int64_t count, double divisor) {
  const SumReducer<Acc> r;
  internal::Cascade<SumReducer<Acc>> total(r);
  for (int64_t i = 0; i < count; i += internal::kLeaf) {
    total.Add(internal::CombineRun(r, losses + i, std::min(internal::kLeaf, count - i), 1));
  }
  const double sum = static_cast<double>(total.Total());
  if (std::isfinite(sum) || divisor <= 1) [[likely]]
    return static_cast<Acc>(sum / divisor);
  return static_cast<Acc>(FarMeanOf(
      [&](const auto& f) {
        for (int64_t i = 0; i < count; ++i) f(static_cast<double>(losses[i]));
      },
      divisor));
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CLASS_LOSS_H_
