#ifndef FIRN_TENSOR_KERNELS_CUDA_CLASS_TARGETS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_CLASS_TARGETS_CUH_

// Targets of losses on class indices: an index that names no class counts as ignored, and is noted
// (index_range.cuh).

#include "firn/tensor/kernels/class_targets.h"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn::cuda {

template <class T>
struct Targets : ClassTargets<T, IndexRange> {
  // The targets in input `input`, which is the argument `site`; their weights are the next input.
  Targets(const KernelContext& k, const IndexSite& site, int input, int64_t num_classes,
          int64_t ignore_index)
      : ClassTargets<T, IndexRange>(
            k, input, IndexRange{IndexFaults(k, site), 0, num_classes, ignore_index}) {}
};

// The reduction over samples, whose targets `label` are contiguous. It needs MeanBytes(work) of
// workspace.
inline ReduceWork PlanSamples(const TensorSpec& label) { return PlanWork(label, {}); }
inline size_t MeanBytes(const ReduceWork& work) { return work.Bytes(sizeof(WeightedSum<double>)); }

// The divisor of a gradient's flow: one, or the sum of the samples' weights, which only the device
// knows. The workspace holds kDivisorBytes and MeanBytes(PlanSamples).
inline constexpr size_t kDivisorBytes = 64;
template <class T>
absl::Status MakeDivisor(KernelContext& k, const TensorSpec& label, const Targets<T>& targets,
                         Reduction reduction, const double** divisor) {
  *divisor = nullptr;
  if (reduction != Reduction::kMean) return absl::OkStatus();
  auto* total = k.workspace<double>();
  *divisor = total;
  return ReduceWith<false>(k, WeightFold<Targets<T>>{targets, total}, PlanSamples(label),
                           k.workspace<char>() + kDivisorBytes);
}
inline size_t DivisorWorkspace(const TensorSpec& label, Reduction reduction) {
  return reduction == Reduction::kMean ? kDivisorBytes + MeanBytes(PlanSamples(label)) : 0;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CLASS_TARGETS_CUH_
