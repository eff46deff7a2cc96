// A bias added in place, in words of sixteen bytes where a channel is a multiple of them.
#include "tensor/dtype.h"
#include "tensor/kernels/cuda/channel_bias.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"

namespace firn::cuda {
namespace {

template <class T, int kWord>
struct BiasBody {
  using Acc = AccumulatorOf<T>;
  struct alignas(sizeof(T) * kWord) Word {
    T v[kWord];
  };
  const T* bias;
  Word* y;
  int64_t channels, words;  // of a channel

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i;
    TakeDigit(rest, words);
    const Acc add = static_cast<Acc>(bias[TakeDigit(rest, channels)]);
    Word word = y[i];
    for (int j = 0; j < kWord; ++j) word.v[j] = static_cast<T>(static_cast<Acc>(word.v[j]) + add);
    y[i] = word;
  }
};

}  // namespace

absl::Status AddChannelBias(const Queue& queue, const TensorSpec& spec, const void* bias, void* y) {
  int64_t run = 1;  // elements of a channel
  for (int d = 2; d < spec.shape.rank(); ++d) run *= spec.shape[d];
  return VisitFloat(spec.dtype, [&]<class T>(TypeTag<T>) {
    const auto launch = [&]<int kWord>(std::integral_constant<int, kWord>) {
      using Body = BiasBody<T, kWord>;
      const Body body = {static_cast<const T*>(bias), static_cast<typename Body::Word*>(y),
                         spec.shape[1], run / kWord};
      return ForEach(queue, spec.num_elements() / kWord, body);
    };
    constexpr int kWord = 16 / sizeof(T);
    const bool wide = run % kWord == 0 && reinterpret_cast<uintptr_t>(y) % 16 == 0;
    return wide ? launch(std::integral_constant<int, kWord>())
                : launch(std::integral_constant<int, 1>());
  });
}

}  // namespace firn::cuda
