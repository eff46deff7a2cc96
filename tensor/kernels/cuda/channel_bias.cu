// A bias added in place and an activation, in words of sixteen bytes where a channel's run, or all
// channels of an NHWC pixel, are a multiple of that.
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/channel_bias.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/fused_activation.h"

namespace firn::cuda {
namespace {

template <class T, int kWord, FusedActivation kActivation>
struct BiasBody {
  using Acc = AccumulatorOf<T>;
  struct alignas(sizeof(T) * kWord) Word {
    T v[kWord];
  };
  const T* bias;  // may be null
  Word* y;
  int64_t words;  // of a channel's run, or of the channels of a pixel
  int64_t channels;
  int step;  // from an element's channel to the next one's: 0, or 1 where channels are innermost

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i;
    const int64_t word_of_run = TakeDigit(rest, words);
    const int64_t channel = step == 0 ? TakeDigit(rest, channels) : word_of_run * kWord;
    Word word = y[i];
    for (int j = 0; j < kWord; ++j) {
      const Acc add = bias != nullptr ? static_cast<Acc>(bias[channel + j * step]) : Acc(0);
      const Acc z = static_cast<Acc>(word.v[j]) + add;
      word.v[j] = static_cast<T>(Activate<kActivation>(z));
    }
    y[i] = word;
  }
};

template <class T, FusedActivation kActivation>
absl::Status Add(const Queue& queue, const TensorSpec& spec, const void* bias, void* y) {
  if (spec.num_elements() == 0) return absl::OkStatus();
  const int64_t channels = spec.shape[1];
  const bool innermost = spec.layout.blocked();
  const int64_t run = innermost ? channels : spec.num_elements() / spec.shape[0] / channels;
  const auto launch = [&]<int kWord>(std::integral_constant<int, kWord>) {
    using Body = BiasBody<T, kWord, kActivation>;
    const Body body = {static_cast<const T*>(bias), static_cast<typename Body::Word*>(y),
                       run / kWord, channels, innermost ? 1 : 0};
    return ForEach(queue, spec.num_elements() / kWord, body);
  };
  constexpr int kWide = 16 / sizeof(T);
  const bool wide = run % kWide == 0 && reinterpret_cast<uintptr_t>(y) % 16 == 0;
  return wide ? launch(std::integral_constant<int, kWide>())
              : launch(std::integral_constant<int, 1>());
}

}  // namespace

absl::Status AddChannelBias(const Queue& queue, const TensorSpec& spec, const void* bias,
                            FusedActivation activation, void* y) {
  return VisitFloat(spec.dtype, [&]<class T>(TypeTag<T>) {
    using A = FusedActivation;
    if (activation == A::kRelu) return Add<T, A::kRelu>(queue, spec, bias, y);
    if (activation == A::kTanh) return Add<T, A::kTanh>(queue, spec, bias, y);
    return Add<T, A::kNone>(queue, spec, bias, y);
  });
}

}  // namespace firn::cuda
