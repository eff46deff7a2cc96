#ifndef FIRN_TENSOR_KERNELS_CUDA_CHANNELS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_CHANNELS_CUH_

// Per-channel work on row-major tensors [n, c, ...] and NHWC ones.

#include <algorithm>
#include <utility>

#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/kernels/divide.h"

namespace firn::cuda {

// The reduction over every dimension but the channels.
inline ReduceWork PlanChannels(const TensorSpec& x) {
  if (x.layout.blocked()) {
    const Shape lines({x.num_elements() / x.shape[1], x.shape[1]});
    return PlanWork(TensorSpec::Contiguous(x.dtype, lines, x.device), {0});
  }
  absl::InlinedVector<int64_t, kMaxRank> dims = {0};
  for (int d = 2; d < x.shape.rank(); ++d) dims.push_back(d);
  return PlanWork(x, dims);
}

namespace internal {

// f of a channel's numbers and of element j of every pack.
template <class T, class F, class Numbers, class Pack, size_t... I>
FIRN_HOST_DEVICE T OfElements(const F& f, const Numbers& numbers, const Pack* v, int j,
                              std::index_sequence<I...>) {
  return static_cast<T>(f(numbers, static_cast<AccumulatorOf<T>>(v[I].v[j])...));
}

}  // namespace internal

// y = f(f.of(channel), in0, ...), sixteen bytes a thread.
template <class F, class T, int kIn>
struct ChannelBody {
  static constexpr int kPack = internal::kPack<T>;

  F f;
  T* y;
  const T* in[kIn];
  int64_t n, spatial, channels;
  bool aligned;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t first = i * kPack;
    const int count = static_cast<int>(n - first < kPack ? n - first : kPack);
    int64_t rest = first;
    int64_t at = TakeDigit(rest, spatial), channel = TakeDigit(rest, channels);
    internal::Pack<T, kPack> v[kIn + 1];
    const bool whole = aligned && count == kPack;
#pragma unroll
    for (int o = 0; o < kIn; ++o) {
      if (whole) {
        v[o] = *reinterpret_cast<const internal::Pack<T, kPack>*>(in[o] + first);
      } else {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          if (j < count) v[o].v[j] = in[o][first + j];
        }
      }
    }
    auto numbers = f.of(channel);
#pragma unroll
    for (int j = 0; j < kPack; ++j) {
      if (j >= count) break;
      if (at == spatial) {
        at = 0;
        channel = channel + 1 == channels ? 0 : channel + 1;
        numbers = f.of(channel);
      }
      ++at;
      v[kIn].v[j] = internal::OfElements<T>(f, numbers, v, j, std::make_index_sequence<kIn>());
    }
    if (whole) {
      *reinterpret_cast<internal::Pack<T, kPack>*>(y + first) = v[kIn];
    } else {
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        if (j < count) y[first + j] = v[kIn].v[j];
      }
    }
  }
};

// The same where each pixel's channels lie together and are whole packs: a thread reads the numbers
// of its pack of channels once and takes these channels of one pixel after the other.
template <class F, class T, int kIn>
struct PixelBody {
  static constexpr int kPack = internal::kPack<T>;
  using Pack = internal::Pack<T, kPack>;

  F f;
  T* y;
  const T* in[kIn];
  int64_t pixels, packs;  // of channels, in a pixel
  int64_t step;           // task t takes pixels t / packs, t / packs + step, ...

  FIRN_HOST_DEVICE void operator()(int64_t task) const {
    int64_t pixel = task;
    const int64_t pack = TakeDigit(pixel, packs);
    decltype(f.of(0)) numbers[kPack];
#pragma unroll
    for (int j = 0; j < kPack; ++j) numbers[j] = f.of(pack * kPack + j);
    for (; pixel < pixels; pixel += step) {
      const int64_t at = pixel * packs + pack;
      Pack v[kIn], result;
#pragma unroll
      for (int o = 0; o < kIn; ++o) v[o] = reinterpret_cast<const Pack*>(in[o])[at];
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        result.v[j] = internal::OfElements<T>(f, numbers[j], v, j, std::make_index_sequence<kIn>());
      }
      reinterpret_cast<Pack*>(y)[at] = result;
    }
  }
};

// y may be one of the inputs. A thread takes several pixels where there are more packs than keep a
// device busy.
template <class F, class T, class... In>
absl::Status MapChannels(const Queue& queue, const TensorSpec& spec, const F& f, T* y,
                         const T* first, const In*... rest) {
  constexpr int kIn = 1 + sizeof...(In);
  ChannelBody<F, T, kIn> body = {f, y, {first, rest...}};
  body.n = spec.num_elements();
  body.channels = spec.shape[1];
  body.spatial = 1;  // elements of a channel that lie together
  for (int d = 2; d < spec.shape.rank() && !spec.layout.blocked(); ++d) {
    body.spatial *= spec.shape[d];
  }
  body.aligned =
      internal::Aligned(y) && internal::Aligned(first) && (internal::Aligned(rest) && ...);
  if (body.spatial == 1 && body.aligned && body.n > 0 && body.channels % body.kPack == 0) {
    const int64_t pixels = body.n / body.channels, packs = body.channels / body.kPack;
    const int64_t step =
        (pixels - 1) / std::clamp<int64_t>(pixels * packs / kBusyThreads, 1, 16) + 1;
    const PixelBody<F, T, kIn> by_pixel = {f, y, {first, rest...}, pixels, packs, step};
    return ForEach(queue, step * packs, by_pixel);
  }
  return ForEach(queue, (body.n + body.kPack - 1) / body.kPack, body);
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CHANNELS_CUH_
