#ifndef FIRN_TENSOR_KERNELS_CPU_CLASS_LOSS_H_
#define FIRN_TENSOR_KERNELS_CPU_CLASS_LOSS_H_

// Parts shared by losses on class indices: targets with weights, and means over them.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn::cpu {

// Bytes of workspace for weights of classes, input i, as numbers that kernels compute with.
inline size_t ClassWeightsWorkspace(const KernelQuery& q, int i) {
  if (!q.has(i) || q.in(i).dtype == DType::kF32 || q.in(i).dtype == DType::kF64) return 0;
  return static_cast<size_t>(q.in(i).num_elements()) * sizeof(float);
}

// The targets of all samples: input `target`, of either type of indices, and the weights of classes
// in the next input. So kernels need not be compiled for each type of indices and of weights.
template <class Acc>
class Targets {
 public:
  // `workspace` has the bytes of ClassWeightsWorkspace.
  Targets(const KernelContext& k, int target, int64_t ignored, void* workspace)
      : index_(k.in<void>(target)),
        wide_(k.in_spec(target).dtype == DType::kI64),
        count_(k.in_spec(target).num_elements()),
        ignored_(ignored) {
    if (!k.has(target + 1)) return;
    const RowsIn<Acc> weights(k, target + 1);
    const int64_t classes = k.in_spec(target + 1).num_elements();
    weights_ = weights.At(0, classes, static_cast<Acc*>(workspace));
  }

  int64_t count() const { return count_; }
  // Returns null where all weights are 1.
  const Acc* weights() const { return weights_; }
  int64_t operator[](int64_t i) const {
    return wide_ ? static_cast<const int64_t*>(index_)[i] : static_cast<const int32_t*>(index_)[i];
  }
  bool ignores(int64_t i) const { return (*this)[i] == ignored_; }
  // 0 where the target is ignored.
  Acc weight(int64_t i) const {
    if (ignores(i)) return 0;
    return weights_ == nullptr ? Acc{1} : weights_[(*this)[i]];
  }
  // The number by which the mean divides.
  double total_weight() const {
    double total = 0;
    for (int64_t i = 0; i < count_; ++i) total += static_cast<double>(weight(i));
    return total;
  }

 private:
  const void* index_;
  bool wide_;
  const Acc* weights_ = nullptr;
  int64_t count_, ignored_;
};

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
