#ifndef FIRN_TENSOR_KERNELS_CUDA_ELEMENTWISE_LOSS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ELEMENTWISE_LOSS_CUH_

// The kernel of losses that compare two tensors of one shape element by element. With a reduction
// the losses are summed as they are computed and never stored.

#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn::cuda {

// The sum of f(x, y), divided. See reduce.cuh for folds. Sums are double, which holds every sum of
// f32 whose mean f32 holds.
template <class F, class T>
struct LossFold {
  using Of = ComputeOf<T>;
  using Acc = double;
  using State = Acc;

  F f;
  double divisor;
  T* out;

  FIRN_HOST_DEVICE State start() const { return 0; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t, T x, T y) const {
    s += static_cast<double>(f(static_cast<Of>(x), static_cast<Of>(y)));
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return a + b; }
  FIRN_HOST_DEVICE void store(int64_t, const Acc& a) const {
    *out = static_cast<T>(static_cast<Of>(a / divisor));
  }
};

template <class F>
absl::Status RunElementwiseLoss(KernelContext& k) {
  const Reduction reduction = k.attrs<typename F::Attrs>().reduction;
  const F f = MakeFunctor<F>(k);
  const TensorSpec& spec = k.in_spec(0);
  return VisitFloat(spec.dtype, [&]<class T>(TypeTag<T>) {
    if (reduction == Reduction::kNone) return ElementwiseLoop<T, T, T>(k, f);
    const LossFold<F, T> fold = {f, LossDivisor(spec.shape, reduction), k.out<T>()};
    return ReduceWith<false>(k, fold, PlanWork(spec, {}), k.workspace(), k.in<T>(0), k.in<T>(1));
  });
}

template <class A>
size_t ElementwiseLossWorkspace(const KernelQuery& q) {
  return q.attrs<A>().reduction == Reduction::kNone ? 0
                                                    : PlanWork(q.in(0), {}).Bytes(sizeof(double));
}

template <class F>
std::vector<Kernel> ElementwiseLossKernels(
    absl::Status (*run)(KernelContext&) = RunElementwiseLoss<F>) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = ElementwiseLossWorkspace<typename F::Attrs>,
           .run = run}};
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ELEMENTWISE_LOSS_CUH_
