// Convolutions by their definition, with a thread for each output, for calls that cuDNN does not
// take (conv_cuda.cc). Weight gradients by their definition: a team adds up one weight's gradient
// over the batch and the output's pixels.

#include "firn/tensor/kernels/cuda/channel_bias.h"
#include "firn/tensor/kernels/cuda/conv.cuh"

namespace firn::conv_cuda {
namespace {

using In = ConvIn;

template <class T>
struct ForwardBody {
  using Acc = AccumulatorOf<T>;
  cuda::ConvSizes s;
  cuda::ConvTensor<const T> x, weight;
  const T* bias;  // may be null
  cuda::ConvTensor<T> y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t n = i;
    const ConvPlace at = TakePlace(n, s.d.out, s.h.out, s.w.out);
    const int64_t o = TakeDigit(n, s.out);
    Acc sum = bias != nullptr ? static_cast<Acc>(bias[o]) : Acc(0);
    for (int64_t t = 0; t < s.d.kernel; ++t) {
      const int64_t id = s.d.Input(at.d, t);
      if (id < 0) continue;
      for (int64_t u = 0; u < s.h.kernel; ++u) {
        const int64_t ih = s.h.Input(at.h, u);
        if (ih < 0) continue;
        for (int64_t v = 0; v < s.w.kernel; ++v) {
          const int64_t iw = s.w.Input(at.w, v);
          if (iw >= 0) sum += Products(n, o, {id, ih, iw}, {t, u, v});
        }
      }
    }
    *y.at(n, o, at) = static_cast<T>(sum);
  }

  // Sums over the input channels of output channel o.
  FIRN_HOST_DEVICE Acc Products(int64_t n, int64_t o, const ConvPlace& pixel,
                                const ConvPlace& at) const {
    const T* from = x.at(n, o / s.out_per_group * s.in_per_group, pixel);
    const T* tap = weight.at(o, 0, at);
    Acc sum = 0;
    for (int64_t c = 0; c < s.in_per_group; ++c) {
      sum += static_cast<Acc>(from[c * x.c]) * static_cast<Acc>(tap[c * weight.c]);
    }
    return sum;
  }
};

absl::Status Convolve(KernelContext& k, const ConvAttrs& attrs, bool with_bias) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvForward(k.in_spec(In::kX).shape, k.in_spec(In::kWeight).shape, attrs));
  return VisitFloat(k.in_spec(In::kX).dtype, [&]<class T>(TypeTag<T>) {
    const ForwardBody<T> body = {cuda::ConvSizes(p),
                                 {k.in_spec(In::kX), k.in<T>(In::kX)},
                                 {k.in_spec(In::kWeight), k.in<T>(In::kWeight)},
                                 with_bias ? k.in<T>(In::kBias) : nullptr,
                                 {k.out_spec(), k.out<T>()}};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

absl::Status RunConv(KernelContext& k) { return Convolve(k, k.attrs<ConvAttrs>(), true); }

// Applies the activation, and the bias for types that are not rounded in between, by the kernel
// that does this for cuDNN's convolutions.
absl::Status RunActivated(KernelContext& k) {
  const auto& a = k.attrs<ConvActAttrs>();
  const bool half = SizeOf(k.out_spec().dtype) < 4;
  FIRN_RETURN_IF_ERROR(Convolve(k, a.conv, half));
  return cuda::AddChannelBias(k, k.out_spec(), half ? nullptr : k.in<void>(In::kBias), a.activation,
                              k.out<void>());
}

template <class T>
struct WeightBody {
  using Acc = AccumulatorOf<T>;
  cuda::ConvSizes s;
  cuda::ConvTensor<const T> x, y;
  T* weight;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    int64_t o = line;
    const ConvPlace tap = TakePlace(o, s.d.kernel, s.h.kernel, s.w.kernel);
    const int64_t c = TakeDigit(o, s.in_per_group);
    const int64_t channel = o / s.out_per_group * s.in_per_group + c;
    Acc sum = 0;
    for (int64_t i = team.rank(); i < s.batch * s.pixels(); i += team.size()) {
      int64_t n = i;
      const ConvPlace at = TakePlace(n, s.d.out, s.h.out, s.w.out);
      const ConvPlace from = {s.d.Input(at.d, tap.d), s.h.Input(at.h, tap.h),
                              s.w.Input(at.w, tap.w)};
      if (from.d < 0 || from.h < 0 || from.w < 0) continue;
      sum += static_cast<Acc>(*y.at(n, o, at)) * static_cast<Acc>(*x.at(n, channel, from));
    }
    sum = team.Reduce(sum, [](Acc a, Acc b) { return a + b; });
    if (team.rank() == 0) weight[line] = static_cast<T>(sum);
  }
};

absl::Status RunWeightGrad(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(
      const ConvProblem p,
      ConvBackwardWeight(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<ConvAttrs>()));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const WeightBody<T> body = {
        cuda::ConvSizes(p), {k.in_spec(0), k.in<T>(0)}, {k.in_spec(1), k.in<T>(1)}, k.out<T>()};
    return cuda::ForEachLine(k, k.out_spec().num_elements(), body.s.batch * body.s.pixels(), body);
  });
}

std::vector<Kernel> KernelsOf(decltype(Kernel::run) run, decltype(Kernel::layouts) layouts) {
  return {{.name = "loop", .device = DeviceType::kCuda, .layouts = layouts, .run = run}};
}

std::vector<Kernel> WeightGradKernels() {
  return KernelsOf(RunWeightGrad, cuda::ConvWeightGradLayouts);
}

}  // namespace

FIRN_REGISTER_KERNELS(conv1d) { return KernelsOf(RunConv, cuda::ConvLayouts); }
FIRN_REGISTER_KERNELS(conv2d) { return KernelsOf(RunConv, cuda::ConvLayouts); }
FIRN_REGISTER_KERNELS(conv3d) { return KernelsOf(RunConv, cuda::ConvLayouts); }
FIRN_REGISTER_KERNELS(conv2d_act) { return KernelsOf(RunActivated, cuda::ConvLayouts); }
FIRN_REGISTER_KERNELS(conv1d_weight_grad) { return WeightGradKernels(); }
FIRN_REGISTER_KERNELS(conv2d_weight_grad) { return WeightGradKernels(); }
FIRN_REGISTER_KERNELS(conv3d_weight_grad) { return WeightGradKernels(); }

}  // namespace firn::conv_cuda
