// log_softmax and its gradient: see log_softmax.cc. A line is read twice, for the sum and for the
// result.

#include "tensor/kernels/cuda/exp_sum.cuh"
#include "tensor/kernels/cuda/lines.cuh"
#include "tensor/op.h"
#include "tensor/ops/log_softmax.h"

namespace firn::log_softmax_cuda {
namespace {

template <class T>
struct LogSoftmaxBody {
  using Acc = AccumulatorOf<T>;

  const T* x;
  T* y;
  cuda::LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t line) const { (*this)(cuda::HostTeam(), line); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    const int64_t at = shape.offset(line);
    const auto [top, sum] = cuda::ExpSumOfLine<Acc>(team, shape.length, shape.stride, x + at);
    const Acc largest = top, log_sum = math::Log(sum);
    const auto f = [&](int64_t, T v) { return static_cast<Acc>(v) - largest - log_sum; };
    cuda::MapElements(team, shape.length, shape.stride, f, y + at, x + at);
  }
};

template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;

  const T *dy, *y;
  T* dx;
  cuda::LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t line) const { (*this)(cuda::HostTeam(), line); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    const int64_t at = shape.offset(line);
    Acc sum = 0;
    const auto add = [&](int64_t, T d) { sum += static_cast<Acc>(d); };
    cuda::ReadElements(team, shape.length, shape.stride, add, dy + at);
    sum = team.Reduce(sum, [](Acc a, Acc b) { return a + b; });
    const auto f = [&](int64_t, T d, T v) {
      return static_cast<Acc>(d) - math::Exp(static_cast<Acc>(v)) * sum;
    };
    cuda::MapElements(team, shape.length, shape.stride, f, dx + at, dy + at, y + at);
  }
};

absl::Status Run(KernelContext& k) {
  const cpu::Lines lines = cpu::LinesAlong(k.in_spec(0).shape, k.attrs<SoftmaxAttrs>().dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ForEachLineAlong(
        k, lines, LogSoftmaxBody<T>{k.in<T>(0), k.out<T>(), cuda::LineShape(lines)});
  });
}

absl::Status RunGrad(KernelContext& k) {
  const cpu::Lines lines = cpu::LinesAlong(k.in_spec(0).shape, k.attrs<SoftmaxAttrs>().dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ForEachLineAlong(
        k, lines, GradBody<T>{k.in<T>(0), k.in<T>(1), k.out<T>(), cuda::LineShape(lines)});
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(log_softmax) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}
FIRN_REGISTER_KERNELS(log_softmax_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunGrad}};
}

}  // namespace firn::log_softmax_cuda
