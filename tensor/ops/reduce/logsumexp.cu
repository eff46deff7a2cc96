#include "tensor/kernels/cuda/exp_sum.cuh"
#include "tensor/kernels/cuda/reduce.cuh"

namespace firn::logsumexp_cuda {
namespace {

template <class T>
struct LogsumexpFold {
  using Real = AccumulatorOf<T>;
  using Acc = cuda::ExpSum<Real>;
  using State = Acc;

  T* out;

  FIRN_HOST_DEVICE State start() const { return {}; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t, T v) const { s.Add(static_cast<Real>(v)); }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return a + b; }
  FIRN_HOST_DEVICE void store(int64_t j, const Acc& a) const {
    out[j] = static_cast<T>(a.infinite() ? a.largest : a.largest + math::Log(a.sum));
  }
};

absl::Status Run(KernelContext& k) {
  const cuda::ReduceWork work = cuda::PlanWork(k.in_spec(0), k.attrs<ReduceAttrs>().dims);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ReduceWith(k, LogsumexpFold<T>{k.out<T>()}, work, k.workspace(), k.in<T>(0));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(logsumexp) {
  return cuda::ReductionKernels<sizeof(cuda::ExpSum<double>)>(Run);
}

}  // namespace firn::logsumexp_cuda
