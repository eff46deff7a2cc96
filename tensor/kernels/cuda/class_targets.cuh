#ifndef FIRN_TENSOR_KERNELS_CUDA_CLASS_TARGETS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_CLASS_TARGETS_CUH_

// What losses on class indices share: targets with weights, and means over them. An index that
// names no class counts as ignored, and is noted (index_range.cuh).

#include "tensor/kernels/cuda/index_range.cuh"
#include "tensor/kernels/cuda/reduce.cuh"
#include "tensor/ops/loss/reduction_mode.h"

namespace firn::cuda {

// The targets of all samples. T: of the weights (all 1 where null).
template <class T>
struct Targets {
  using Acc = AccumulatorOf<T>;

  const void* index;
  bool wide;  // i64, else i32
  const T* weights;
  int64_t count, classes;
  IndexRange range;

  // Input `input`, the argument `site`, whose weights are the next one.
  Targets(const KernelContext& k, const IndexSite& site, int input, int64_t num_classes,
          int64_t ignore_index)
      : index(k.in<void>(input)),
        wide(k.in_spec(input).dtype == DType::kI64),
        weights(k.in<T>(input + 1)),
        count(k.in_spec(input).num_elements()),
        classes(num_classes),
        range{IndexFaults(k, site), 0, num_classes, ignore_index} {}

  // The class of sample i, or -1 where it is ignored.
  FIRN_HOST_DEVICE int64_t operator[](int64_t i) const {
    return range(wide ? static_cast<const int64_t*>(index)[i]
                      : static_cast<const int32_t*>(index)[i]);
  }
  FIRN_HOST_DEVICE Acc weight_of(int64_t c) const {
    return weights == nullptr ? Acc{1} : static_cast<Acc>(weights[c]);
  }
  FIRN_HOST_DEVICE double weight(int64_t i) const {
    const int64_t t = (*this)[i];
    return t < 0 ? 0.0 : static_cast<double>(weight_of(t));
  }
};

// A sum over samples and the weights that it is a mean over.
template <class Acc>
struct WeightedSum {
  Acc sum;
  double weight;
};

// *out = the sum of loss(i), divided by the samples' weights when a mean is wanted. Loss: a struct
// with `targets` and operator().
template <class Loss, class Out>
struct MeanFold {
  using Real = typename Loss::Acc;
  using Acc = WeightedSum<Real>;
  using State = Acc;

  Loss loss;
  bool mean;
  Out* out;

  FIRN_HOST_DEVICE State start() const { return {0, 0}; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t i) const {
    s.sum += loss(i);
    if (mean) s.weight += loss.targets.weight(i);
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const {
    return {a.sum + b.sum, a.weight + b.weight};
  }
  FIRN_HOST_DEVICE void store(int64_t, const Acc& a) const {
    *out =
        static_cast<Out>(static_cast<Real>(static_cast<double>(a.sum) / (mean ? a.weight : 1.0)));
  }
};

// *out = the samples' weights.
template <class T>
struct WeightFold {
  using Acc = double;
  using State = double;

  Targets<T> targets;
  double* out;

  FIRN_HOST_DEVICE State start() const { return 0; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t i) const { s += targets.weight(i); }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return a + b; }
  FIRN_HOST_DEVICE void store(int64_t, const Acc& a) const { *out = a; }
};

// The reduction over samples; `label` are their targets, which are contiguous. It needs
// MeanBytes(work) of workspace.
inline ReduceWork PlanSamples(const TensorSpec& label) { return PlanWork(label, {}); }
inline size_t MeanBytes(const ReduceWork& work) { return work.Bytes(sizeof(WeightedSum<double>)); }

// What a gradient's flow is divided by: one, or the samples' weights, which the device knows. The
// workspace holds kDivisorBytes and MeanBytes(PlanSamples).
inline constexpr size_t kDivisorBytes = 64;
template <class T>
absl::Status MakeDivisor(KernelContext& k, const TensorSpec& label, const Targets<T>& targets,
                         Reduction reduction, const double** divisor) {
  *divisor = nullptr;
  if (reduction != Reduction::kMean) return absl::OkStatus();
  auto* total = k.workspace<double>();
  *divisor = total;
  return ReduceWith<false>(k, WeightFold<T>{targets, total}, PlanSamples(label),
                           k.workspace<char>() + kDivisorBytes);
}
inline size_t DivisorWorkspace(const TensorSpec& label, Reduction reduction) {
  return reduction == Reduction::kMean ? kDivisorBytes + MeanBytes(PlanSamples(label)) : 0;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CLASS_TARGETS_CUH_
