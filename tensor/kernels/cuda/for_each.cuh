#ifndef FIRN_TENSOR_KERNELS_CUDA_FOR_EACH_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_FOR_EACH_CUH_

// The two shapes of Firn's own CUDA kernels:
//
//   ForEach(k, n, body)           body(i) for every i < n, one thread each
//   ForEachLine(k, n, len, body)  body(team, line) for every line < n: a team of threads shares a
//                                 line of about `len` elements and can reduce over its members
//
// A body is a small struct of pointers and numbers with a FIRN_HOST_DEVICE operator(). It is passed
// to the device by value, and also compiled for the host, where a stand-in for the device runs it
// in a plain loop, with a team of one: so everything but the shuffles below is tested without a
// GPU.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <typeinfo>

#include "absl/status/status.h"
#include "firn/device/macros.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kWarp = 32;
// Threads that keep a device busy: with more work than threads, each thread may do several items.
inline constexpr int64_t kBusyThreads = 131072;
// Enough blocks to fill the largest device several times over; loops stride over the rest.
inline constexpr int64_t kMaxBlocks = 8192;

template <class Body>
struct Loop {
  Body body;
  int64_t n;
};

// Launches `kernel` with `argument`; `on_host` does the same work in one go.
template <class Argument>
absl::Status LaunchWith(const Queue& queue, const char* name, void (*kernel)(Argument),
                        void (*on_host)(const void*), int64_t blocks, unsigned threads,
                        Argument argument) {
  static_assert(sizeof(Argument) <= 4096, "more than a kernel's arguments may have");
  __builtin_clear_padding(&argument);  // launches are compared byte by byte
  return Launch(queue, {.name = name,
                        .kernel = reinterpret_cast<const void*>(kernel),
                        .blocks = static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, kMaxBlocks)),
                        .threads = threads,
                        .shared_bytes = 0,
                        .argument = &argument,
                        .argument_bytes = sizeof(Argument),
                        .on_host = on_host});
}

template <class Body>
__global__ void __launch_bounds__(kThreads) ForEachKernel(Loop<Body> loop) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < loop.n;
       i += step) {
    loop.body(i);
  }
}

// For n = 0 there is no work.
template <class Body>
absl::Status ForEach(const Queue& queue, int64_t n, const Body& body) {
  if (n <= 0) return absl::OkStatus();
  const auto on_host = [](const void* argument) {
    const auto& loop = *static_cast<const Loop<Body>*>(argument);
    for (int64_t i = 0; i < loop.n; ++i) loop.body(i);
  };
  return LaunchWith<Loop<Body>>(queue, typeid(Body).name(), ForEachKernel<Body>, on_host,
                                (n + kThreads - 1) / kThreads, kThreads, {body, n});
}

// --- Teams ---------------------------------------------------------------------------------------

// A team of one, on the host.
struct HostTeam {
  FIRN_HOST_DEVICE int64_t rank() const { return 0; }
  FIRN_HOST_DEVICE int64_t size() const { return 1; }
  // Gives all members op over every member's value, in the order of their ranks.
  template <class T, class Op>
  FIRN_HOST_DEVICE T Reduce(T value, const Op&) const {
    return value;
  }
  // Gives each member op over the values of the members before it and its own.
  template <class T, class Op>
  FIRN_HOST_DEVICE T Scan(T value, const Op&) const {
    return value;
  }
  // The last member's value.
  template <class T>
  FIRN_HOST_DEVICE T FromLast(T value) const {
    return value;
  }
  FIRN_HOST_DEVICE void Sync() const {}
};

// A value of any trivially copyable type from another lane of the warp.
template <class T, class Shuffle>
__device__ T ShuffleWords(const T& value, const Shuffle& shuffle) {
  constexpr unsigned kWords = (sizeof(T) + 3) / 4;
  uint32_t words[kWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  T got;
  memcpy(&got, words, sizeof(T));
  return got;
}

// The 32 threads of a warp.
struct WarpTeam {
  __device__ int64_t rank() const { return threadIdx.x % kWarp; }
  __device__ int64_t size() const { return kWarp; }
  template <class T, class Op>
  __device__ T Reduce(T value, const Op& op) const {
    return ReduceFirst(kWarp, value, op);
  }
  // op over the values of the first `lanes` lanes, a power of two.
  template <class T, class Op>
  static __device__ T ReduceFirst(unsigned lanes, T value, const Op& op) {
    // Lane i gets i..i+2d-1: only lane 0's value is over all lanes in order, so all lanes get that
    // one.
    for (unsigned d = 1; d < lanes; d *= 2) {
      const T other =
          ShuffleWords(value, [d](uint32_t w) { return __shfl_down_sync(0xFFFFFFFFu, w, d); });
      value = op(value, other);
    }
    return ShuffleWords(value, [](uint32_t w) { return __shfl_sync(0xFFFFFFFFu, w, 0); });
  }
  template <class T, class Op>
  __device__ T Scan(T value, const Op& op) const {
    for (unsigned d = 1; d < kWarp; d *= 2) {
      const T before =
          ShuffleWords(value, [d](uint32_t w) { return __shfl_up_sync(0xFFFFFFFFu, w, d); });
      if (rank() >= d) value = op(before, value);
    }
    return value;
  }
  template <class T>
  __device__ T FromLast(T value) const {
    return ShuffleWords(value, [](uint32_t w) { return __shfl_sync(0xFFFFFFFFu, w, kWarp - 1); });
  }
  __device__ void Sync() const { __syncwarp(); }
};

// All threads of a block of 1, 2, 4, ... or 32 warps. Every member must make the same calls.
struct BlockTeam {
  static constexpr unsigned kMaxValue = 32;  // bytes of a value that is shared

  unsigned char* scratch;  // shared memory: kMaxValue bytes for each of 32 warps and the result

  __device__ int64_t rank() const { return threadIdx.x; }
  __device__ int64_t size() const { return blockDim.x; }
  template <class T, class Op>
  __device__ T Reduce(T value, const Op& op) const {
    static_assert(sizeof(T) <= kMaxValue);
    value = WarpTeam().Reduce(value, op);
    if (threadIdx.x % kWarp == 0) Slot<T>(threadIdx.x / kWarp) = value;
    __syncthreads();
    const unsigned warps = blockDim.x / kWarp;  // each warp adds up all of them
    value = WarpTeam::ReduceFirst(warps, Slot<T>(threadIdx.x % warps), op);
    __syncthreads();
    return value;
  }
  template <class T, class Op>
  __device__ T Scan(T value, const Op& op) const {
    static_assert(sizeof(T) <= kMaxValue);
    value = WarpTeam().Scan(value, op);
    const unsigned warp = threadIdx.x / kWarp;
    if (threadIdx.x % kWarp == kWarp - 1) Slot<T>(warp) = value;
    __syncthreads();
    if (warp != 0) {
      T before = Slot<T>(0);
      for (unsigned w = 1; w < warp; ++w) before = op(before, Slot<T>(w));
      value = op(before, value);
    }
    __syncthreads();
    return value;
  }
  template <class T>
  __device__ T FromLast(T value) const {
    static_assert(sizeof(T) <= kMaxValue);
    if (threadIdx.x == blockDim.x - 1) Slot<T>(0) = value;
    __syncthreads();
    value = Slot<T>(0);
    __syncthreads();
    return value;
  }
  __device__ void Sync() const { __syncthreads(); }

 private:
  template <class T>
  __device__ T& Slot(unsigned i) const {
    return *reinterpret_cast<T*>(scratch + i * kMaxValue);
  }
};

template <class Body>
__global__ void __launch_bounds__(kThreads) WarpLinesKernel(Loop<Body> loop) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * (blockDim.x / kWarp);
  for (int64_t line = static_cast<int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
       line < loop.n; line += step) {
    loop.body(WarpTeam(), line);
  }
}

template <class Body>
__global__ void __launch_bounds__(1024) BlockLinesKernel(Loop<Body> loop) {
  __shared__ alignas(16) unsigned char scratch[kWarp * BlockTeam::kMaxValue];
  for (int64_t line = blockIdx.x; line < loop.n; line += gridDim.x) {
    loop.body(BlockTeam{scratch}, line);
  }
}

// A body reads its part of a line as `for (i = team.rank(); i < len; i += team.size())`.
template <class Body>
absl::Status ForEachLine(const Queue& queue, int64_t lines, int64_t length, const Body& body) {
  if (lines <= 0) return absl::OkStatus();
  const auto on_host = [](const void* argument) {
    const auto& loop = *static_cast<const Loop<Body>*>(argument);
    for (int64_t line = 0; line < loop.n; ++line) loop.body(HostTeam(), line);
  };
  const char* const name = typeid(Body).name();
  if (length <= 512) {  // a warp for each line
    constexpr int64_t kLines = kThreads / kWarp;
    return LaunchWith<Loop<Body>>(queue, name, WarpLinesKernel<Body>, on_host,
                                  (lines + kLines - 1) / kLines, kThreads, {body, lines});
  }
  const unsigned threads = length <= 4096 ? kThreads : 1024;
  return LaunchWith<Loop<Body>>(queue, name, BlockLinesKernel<Body>, on_host, lines, threads,
                                {body, lines});
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_FOR_EACH_CUH_
