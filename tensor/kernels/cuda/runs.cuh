#ifndef FIRN_TENSOR_KERNELS_CUDA_RUNS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_RUNS_CUH_

// A team's walk over elements at equal distances, in one or more arrays at once. Where there are no
// gaps and the arrays begin equally far from an aligned address, a thread moves several elements at
// a time, and those before the first and after the last such pack one by one. Which member gets an
// element depends on addresses; for all arrays of a walk it is the same member.

#include <cstdint>

#include "firn/device/macros.h"

namespace firn::cuda {

namespace internal {

// Up to sixteen bytes.
template <class T>
struct alignas(sizeof(T) == 1 ? 8 : 16) RunPack {
  static constexpr int kCount = sizeof(T) == 1 ? 8 : static_cast<int>(16 / sizeof(T));
  T v[kCount];
};

// Elements [head, head + packed) of a run are moved in packs.
struct RunCut {
  int64_t head = 0, packed = 0;

  // Number e of the elements that are not packed, e < n - packed.
  FIRN_HOST_DEVICE int64_t single(int64_t e) const { return e < head ? e : e + packed; }
};

template <class T, class... Rest>
FIRN_HOST_DEVICE RunCut CutRun(int64_t n, const T* first, const Rest*... rest) {
  constexpr unsigned kAlign = alignof(RunPack<T>);
  const auto off = [](const void* p) {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(p)) % kAlign;
  };
  const unsigned at = off(first);
  if (((off(rest) != at) || ...)) return {};
  const int64_t head = (kAlign - at) % kAlign / sizeof(T);
  if (head >= n) return {};
  return {head, (n - head) / RunPack<T>::kCount * RunPack<T>::kCount};
}

// Reads of several elements are under way before the first is used: one after the other, each would
// wait for memory.
inline constexpr int kBatch = 8, kPackBatch = 4;
template <class T, int kN = kBatch>
struct ReadBatch {
  T v[kN];

  FIRN_HOST_DEVICE ReadBatch(const T* from, int64_t step) {
#pragma unroll
    for (int j = 0; j < kN; ++j) v[j] = from[j * step];
  }
};

// f(i, x[i * stride], ...) for i = e, e + step, ... as long as there is a whole batch of them below
// n; returns the first i that is left.
template <class F, class... T>
FIRN_HOST_DEVICE int64_t ReadBatches(int64_t e, int64_t n, int64_t step, int64_t stride, const F& f,
                                     const T*... x) {
  const auto each = [&](const ReadBatch<T>&... batch) {
#pragma unroll
    for (int j = 0; j < kBatch; ++j) f(e + j * step, batch.v[j]...);
  };
  for (; e + (kBatch - 1) * step < n; e += kBatch * step) {
    each(ReadBatch<T>(x + e * stride, step * stride)...);
  }
  return e;
}

// f(i, x[i], ...) for the packs of elements from `at` on that are `step` packs apart, as long as
// they begin before `end`.
template <int kCount, class F, class... T>
FIRN_HOST_DEVICE void ReadPacks(int64_t at, int64_t end, int64_t step, const F& f, const T*... x) {
  const int64_t next = step * kCount;
  const auto each = [&](int64_t from, const RunPack<T>&... pack) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) f(from + j, pack.v[j]...);
  };
  for (; at + (kPackBatch - 1) * next < end; at += kPackBatch * next) {
    const auto all = [&](const ReadBatch<RunPack<T>, kPackBatch>&... batch) {
#pragma unroll
      for (int b = 0; b < kPackBatch; ++b) each(at + b * next, batch.v[b]...);
    };
    all(ReadBatch<RunPack<T>, kPackBatch>(reinterpret_cast<const RunPack<T>*>(x + at), step)...);
  }
  for (; at < end; at += next) {
    each(at, *reinterpret_cast<const RunPack<T>*>(x + at)...);
  }
}

template <class T, class... Rest>
inline constexpr bool kOneSize = ((sizeof(Rest) == sizeof(T)) && ...);

}  // namespace internal

// How many elements a member has to have for its reads to be under way together.
template <class... T>
int64_t ReadsAtOnce(int64_t stride) {
  int64_t n = internal::kBatch;
  if (stride == 1) ((n = internal::kPackBatch * internal::RunPack<T>::kCount), ...);
  return n;
}

// f(i, x[i * stride], ...) for the member's elements i < n of every array, in any order.
template <class Team, class F, class T, class... Rest>
FIRN_HOST_DEVICE void ReadElements(const Team& team, int64_t n, int64_t stride, const F& f,
                                   const T* x, const Rest*... rest) {
  const int64_t rank = team.rank(), size = team.size();
  internal::RunCut cut;
  if constexpr (internal::kOneSize<T, Rest...>) {
    constexpr int kCount = internal::RunPack<T>::kCount;
    if (stride == 1) cut = internal::CutRun(n, x, rest...);
    internal::ReadPacks<kCount>(cut.head + rank * kCount, cut.head + cut.packed, size, f, x,
                                rest...);
  }
  int64_t e = rank;
  if (cut.packed == 0) e = internal::ReadBatches(e, n, size, stride, f, x, rest...);
  for (; e < n - cut.packed; e += size) {
    const int64_t i = cut.single(e);
    f(i, x[i * stride], rest[i * stride]...);
  }
}

// Like the above, without arrays: f(i).
template <class Team, class F>
FIRN_HOST_DEVICE void ReadElements(const Team& team, int64_t n, int64_t, const F& f) {
  for (int64_t i = team.rank(); i < n; i += team.size()) f(i);
}

// y[i * stride] = f(i, x[i * stride], ...). y may be one of the arrays that are read.
template <class Team, class F, class T, class... In>
FIRN_HOST_DEVICE void MapElements(const Team& team, int64_t n, int64_t stride, const F& f, T* y,
                                  const In*... x) {
  const int64_t rank = team.rank(), size = team.size();
  internal::RunCut cut;
  if constexpr (internal::kOneSize<T, In...>) {
    using internal::RunPack;
    constexpr int kCount = RunPack<T>::kCount;
    if (stride == 1) cut = internal::CutRun(n, y, x...);
    const int64_t end = cut.head + cut.packed;
    for (int64_t at = cut.head + rank * kCount; at < end; at += size * kCount) {
      RunPack<T> result;
      const auto each = [&](const RunPack<In>&... a) {
#pragma unroll
        for (int j = 0; j < kCount; ++j) result.v[j] = static_cast<T>(f(at + j, a.v[j]...));
      };
      each(*reinterpret_cast<const RunPack<In>*>(x + at)...);
      *reinterpret_cast<RunPack<T>*>(y + at) = result;
    }
  }
  for (int64_t e = rank; e < n - cut.packed; e += size) {
    const int64_t i = cut.single(e);
    y[i * stride] = static_cast<T>(f(i, x[i * stride]...));
  }
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_RUNS_CUH_
