// A bias added in place and an activation, in words of sixteen bytes where a channel is a multiple
// of them.
#include "tensor/dtype.h"
#include "tensor/kernels/cpu/batch_norm.h"
#include "tensor/kernels/cuda/channel_bias.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"

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
  int64_t channels, words;  // of a channel

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i;
    TakeDigit(rest, words);
    const Acc add = bias != nullptr ? static_cast<Acc>(bias[TakeDigit(rest, channels)]) : Acc(0);
    Word word = y[i];
    for (int j = 0; j < kWord; ++j) {
      const Acc z = static_cast<Acc>(word.v[j]) + add;
      word.v[j] = static_cast<T>(cpu::Activate<kActivation>(z));
    }
    y[i] = word;
  }
};

template <class T, FusedActivation kActivation>
absl::Status Add(const Queue& queue, const TensorSpec& spec, const void* bias, void* y) {
  int64_t run = 1;  // elements of a channel
  for (int d = 2; d < spec.shape.rank(); ++d) run *= spec.shape[d];
  const auto launch = [&]<int kWord>(std::integral_constant<int, kWord>) {
    using Body = BiasBody<T, kWord, kActivation>;
    const Body body = {static_cast<const T*>(bias), static_cast<typename Body::Word*>(y),
                       spec.shape[1], run / kWord};
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
