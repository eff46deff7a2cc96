// conv2d as its definition, an output a thread: what cuDNN does not take (conv2d_cuda.cc).
#include "tensor/kernels/cuda/channel_bias.h"
#include "tensor/kernels/cuda/conv.cuh"

namespace firn::conv2d_cuda {
namespace {

template <class T>
struct ForwardBody {
  using Acc = AccumulatorOf<T>;
  cuda::ConvSizes s;
  cuda::ConvTensor<const T> x, weight;
  const T* bias;  // may be null
  cuda::ConvTensor<T> y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t n = i;
    const int64_t ow = cuda::TakeDigit(n, s.w.out), oh = cuda::TakeDigit(n, s.h.out);
    const int64_t o = cuda::TakeDigit(n, s.out);
    const int64_t first = o / s.out_per_group * s.in_per_group;
    Acc sum = bias != nullptr ? static_cast<Acc>(bias[o]) : Acc(0);
    for (int64_t u = 0; u < s.h.kernel; ++u) {
      const int64_t ih = s.h.Input(oh, u);
      if (ih < 0) continue;
      for (int64_t v = 0; v < s.w.kernel; ++v) {
        const int64_t iw = s.w.Input(ow, v);
        if (iw < 0) continue;
        const T *from = x.at(n, first, ih, iw), *tap = weight.at(o, 0, u, v);
        for (int64_t c = 0; c < s.in_per_group; ++c) {
          sum += static_cast<Acc>(from[c * x.c]) * static_cast<Acc>(tap[c * weight.c]);
        }
      }
    }
    *y.at(n, o, oh, ow) = static_cast<T>(sum);
  }
};

absl::Status Convolve(KernelContext& k, const ConvAttrs& attrs, bool with_bias) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvForward(k.in_spec(0).shape, k.in_spec(1).shape, attrs));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const ForwardBody<T> body = {cuda::ConvSizes(p),
                                 {k.in_spec(0), k.in<T>(0)},
                                 {k.in_spec(1), k.in<T>(1)},
                                 with_bias ? k.in<T>(2) : nullptr,
                                 {k.out_spec(), k.out<T>()}};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

absl::Status Run(KernelContext& k) { return Convolve(k, k.attrs<ConvAttrs>(), true); }

// The activation, and the bias of types that lose nothing in between, by the kernel that cuDNN's
// convolutions leave them to.
absl::Status RunActivated(KernelContext& k) {
  const auto& a = k.attrs<ConvActAttrs>();
  const bool half = SizeOf(k.out_spec().dtype) < 4;
  FIRN_RETURN_IF_ERROR(Convolve(k, a.conv, half));
  return cuda::AddChannelBias(k, k.out_spec(), half ? nullptr : k.in<void>(2), a.activation,
                              k.out<void>());
}

}  // namespace

FIRN_REGISTER_KERNELS(conv2d) {
  return {{.name = "loop", .device = DeviceType::kCuda, .layouts = cuda::ConvLayouts, .run = Run}};
}

FIRN_REGISTER_KERNELS(conv2d_act) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .layouts = cuda::ConvLayouts,
           .run = RunActivated}};
}

}  // namespace firn::conv2d_cuda
