// conv2d_weight_grad as its definition: a team adds up one weight's gradient over the batch and the
// output's pixels. For what cuDNN does not take (conv2d_weight_grad_cuda.cc).
#include "tensor/kernels/cuda/conv.cuh"

namespace firn::conv2d_weight_grad_cuda {
namespace {

template <class T>
struct WeightBody {
  using Acc = AccumulatorOf<T>;
  cuda::ConvSizes s;
  cuda::ConvTensor<const T> x, y;
  T* weight;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    int64_t o = line;
    const int64_t v = cuda::TakeDigit(o, s.w.kernel), u = cuda::TakeDigit(o, s.h.kernel);
    const int64_t c = cuda::TakeDigit(o, s.in_per_group);
    const int64_t channel = o / s.out_per_group * s.in_per_group + c;
    Acc sum = 0;
    for (int64_t i = team.rank(); i < s.batch * s.pixels(); i += team.size()) {
      int64_t n = i;
      const int64_t ow = cuda::TakeDigit(n, s.w.out), oh = cuda::TakeDigit(n, s.h.out);
      const int64_t ih = s.h.Input(oh, u), iw = s.w.Input(ow, v);
      if (ih < 0 || iw < 0) continue;
      sum += static_cast<Acc>(*y.at(n, o, oh, ow)) * static_cast<Acc>(*x.at(n, channel, ih, iw));
    }
    sum = team.Reduce(sum, [](Acc a, Acc b) { return a + b; });
    if (team.rank() == 0) weight[line] = static_cast<T>(sum);
  }
};

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(
      const ConvProblem p,
      ConvBackwardWeight(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<ConvAttrs>()));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const WeightBody<T> body = {
        cuda::ConvSizes(p), {k.in_spec(0), k.in<T>(0)}, {k.in_spec(1), k.in<T>(1)}, k.out<T>()};
    return cuda::ForEachLine(k, k.out_spec().num_elements(), body.s.batch * body.s.pixels(), body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(conv2d_weight_grad) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .layouts = cuda::ConvWeightGradLayouts,
           .run = Run}};
}

}  // namespace firn::conv2d_weight_grad_cuda
