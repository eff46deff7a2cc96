#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/norm_fn.h"

namespace firn::norm_cuda {
namespace {

// In double, which holds the squares of f32; docs/gpu_unverified.md has how to see what that costs.
//
// The reducer is only known when the kernel runs, so that one kernel serves all p.
template <class T>
struct NormReducer {
  using Element = T;
  using Acc = T;
  static constexpr Reduces kReduces = Reduces::kFloats;
  double p, scale;

  FIRN_HOST_DEVICE Acc identity() const {
    return VisitNorm<T>(p, [](const auto& r) { return r.identity(); });
  }
  FIRN_HOST_DEVICE Acc map(T v) const {
    return VisitNorm<T>(p, [v](const auto& r) { return r.map(v); });
  }
  FIRN_HOST_DEVICE Acc combine(Acc a, Acc b) const {
    return VisitNorm<T>(p, [a, b](const auto& r) { return r.combine(a, b); });
  }
  FIRN_HOST_DEVICE T finish(Acc a, int64_t n) const {
    return scale * VisitNorm<T>(p, [a, n](const auto& r) { return r.finish(a, n); });
  }
};

cuda::ReduceWork Plan(const TensorSpec& x, const NormAttrs& a) {
  return cuda::PlanWork(x, a.over.dims);
}

size_t Workspace(const KernelQuery& q) {
  return Plan(q.in(0), q.attrs<NormAttrs>()).Bytes(sizeof(double));
}

absl::Status Run(KernelContext& k) {
  const NormAttrs& a = k.attrs<NormAttrs>();
  const cuda::ReduceWork work = Plan(k.in_spec(0), a);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Reducer = NormReducer<double>;
    const cuda::ReducerFold<Reducer, T> fold = {Reducer{a.p, a.scale}, k.out<T>(), work.length};
    return cuda::ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(norm) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = Workspace,
           .layouts = cuda::StridedLayouts,
           .run = Run,
           .takes = Takes::kStrided}};
}

}  // namespace firn::norm_cuda
