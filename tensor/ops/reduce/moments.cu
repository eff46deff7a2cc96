// var and std: see kernels/cuda/moments.cuh for how they are computed.

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/kernels/cuda/lines.cuh"
#include "firn/tensor/kernels/cuda/moments.cuh"
#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/ops/elementwise/ratio_fn.h"
#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::moments_cuda {
namespace {

// In double, which holds the squares of f32; docs/gpu_unverified.md has how to see what that costs.
template <class T>
struct VarFold : cuda::MomentsFold<double> {
  using Real = double;

  Real divisor;
  bool root;
  T *var, *mean;

  FIRN_HOST_DEVICE void store(int64_t j, const Moments<Real>& m) const {
    const Real v = m.squares / divisor;
    var[j] = static_cast<T>(root ? std::sqrt(v) : v);
    mean[j] = static_cast<T>(m.count == 0 ? std::numeric_limits<Real>::quiet_NaN() : m.mean);
  }
};

cuda::ReduceWork Plan(const TensorSpec& x, const VarAttrs& a) {
  return cuda::PlanWork(x, a.over.dims);
}

size_t Workspace(const KernelQuery& q) {
  return Plan(q.in(0), q.attrs<VarAttrs>()).Bytes(sizeof(Moments<double>));
}

template <bool kRoot>
absl::Status Run(KernelContext& k) {
  const VarAttrs& a = k.attrs<VarAttrs>();
  const TensorSpec& spec = k.in_spec(0);
  const cuda::ReduceWork work = Plan(spec, a);
  const double divisor =
      std::max(0.0, static_cast<double>(ReducedCount(spec.shape, a.over) - a.correction));
  return VisitFloat(spec.dtype, [&]<class T>(TypeTag<T>) {
    VarFold<T> fold;
    fold.divisor = divisor;
    fold.root = kRoot;
    fold.var = k.out<T>(0);
    fold.mean = k.out<T>(1);
    return cuda::ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  });
}

template <bool kRoot>
std::vector<Kernel> Kernels() {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = Workspace,
           .layouts = cuda::StridedLayouts,
           .run = Run<kRoot>,
           .takes = Takes::kStrided}};
}

template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;

  const T *x, *means, *scales, *overs;  // null: 1
  T* dx;
  LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t line) const { (*this)(cuda::HostTeam(), line); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    const int64_t at = shape.offset(line);
    const Acc mean = static_cast<Acc>(means[line]), scale = static_cast<Acc>(scales[line]);
    Acc sum = 0;
    cuda::ReadElements(
        team, shape.length, shape.stride, [&](int64_t, T v) { sum += static_cast<Acc>(v) - mean; },
        x + at);
    const Acc rest =
        team.Reduce(sum, [](Acc a, Acc b) { return a + b; }) / static_cast<Acc>(shape.length);
    const Acc over = overs == nullptr ? Acc{1} : static_cast<Acc>(overs[line]);
    const Acc ratio = RatioOf(scale, over);
    const bool near = overs == nullptr || IsNearRatio(scale, over, ratio);
    const auto f = [&](int64_t, T v) {
      const Acc d = (static_cast<Acc>(v) - mean) - rest;
      return near ? d * ratio : MulRatioFn()(d, scale, over);
    };
    cuda::MapElements(team, shape.length, shape.stride, f, dx + at, x + at);
  }
};

absl::Status RunGrad(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<DimAttrs>().dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ForEachLineAlong(
        k, lines,
        GradBody<T>{k.in<T>(0), k.in<T>(1), k.in<T>(2), k.in<T>(3), k.out<T>(), LineShape(lines)});
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(var_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunGrad}};
}

FIRN_REGISTER_KERNELS(var) { return Kernels<false>(); }
FIRN_REGISTER_KERNELS(std) { return Kernels<true>(); }

}  // namespace firn::moments_cuda
