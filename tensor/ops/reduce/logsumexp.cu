#include <limits>

#include "firn/tensor/kernels/cuda/exp_sum.cuh"
#include "firn/tensor/kernels/cuda/lines.cuh"
#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/problems/dim_attrs.h"

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

template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;

  const T *x, *dy;
  T* dx;
  LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t line) const { (*this)(cuda::HostTeam(), line); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    constexpr Acc kNone = -std::numeric_limits<Acc>::infinity();
    const int64_t at = shape.offset(line);
    const auto [top, sum] = cuda::ExpSumOfLine<Acc>(team, shape.length, shape.stride, x + at);
    const Acc shift = top == kNone ? Acc{0} : top;
    const Acc scale = static_cast<Acc>(dy[line]) / (top == kNone ? Acc{1} : sum);
    const auto f = [&](int64_t, T v) { return math::Exp(static_cast<Acc>(v) - shift) * scale; };
    cuda::MapElements(team, shape.length, shape.stride, f, dx + at, x + at);
  }
};

absl::Status RunGrad(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<DimAttrs>().dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ForEachLineAlong(
        k, lines, GradBody<T>{k.in<T>(0), k.in<T>(1), k.out<T>(), LineShape(lines)});
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(logsumexp_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunGrad}};
}

FIRN_REGISTER_KERNELS(logsumexp) {
  return cuda::ReductionKernels<sizeof(cuda::ExpSum<double>)>(Run);
}

}  // namespace firn::logsumexp_cuda
