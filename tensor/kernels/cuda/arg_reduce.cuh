#ifndef FIRN_TENSOR_KERNELS_CUDA_ARG_REDUCE_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ARG_REDUCE_CUH_

// argmax and argmin: a reduction to an element and its place, the first of several.

#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/kernels/reducers.h"

namespace firn::cuda {

template <bool kLargest, class C>
struct PlaceFold {
  using Acc = firn::Place<C>;
  using State = Acc;

  int64_t* out;

  FIRN_HOST_DEVICE State start() const { return {C(0), -1}; }
  template <class In>
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t i, In v) const {
    s = combine(s, {static_cast<C>(v), i});
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (Beats(b.value, a.value)) return b;
    return !Beats(a.value, b.value) && b.index < a.index ? b : a;
  }
  FIRN_HOST_DEVICE void store(int64_t j, const Acc& a) const { out[j] = a.index; }

  static FIRN_HOST_DEVICE bool Beats(C v, C best) { return firn::Beats<kLargest>(v, best); }
};

inline ReduceWork PlanArgReduce(const TensorSpec& x, const ArgReduceAttrs& a) {
  return a.flatten ? PlanWork(x, {}) : PlanWork(x, {a.dim});
}

template <bool kLargest>
absl::Status RunArgReduce(KernelContext& k) {
  const ReduceWork work = PlanArgReduce(k.in_spec(0), k.attrs<ArgReduceAttrs>());
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const PlaceFold<kLargest, ComparedAs<T>> fold = {k.out<int64_t>()};
    return ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  });
}

inline size_t ArgReduceWorkspace(const KernelQuery& q) {
  return PlanArgReduce(q.in(0), q.attrs<ArgReduceAttrs>()).Bytes(sizeof(firn::Place<double>));
}

template <bool kLargest>
std::vector<Kernel> ArgReduceKernels() {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = ArgReduceWorkspace,
           .run = RunArgReduce<kLargest>}};
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ARG_REDUCE_CUH_
