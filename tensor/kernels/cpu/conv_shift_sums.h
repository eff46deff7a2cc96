#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_SHIFT_SUMS_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_SHIFT_SUMS_H_

// The inner loops of conv_shifts.cc: sums of shifted rows, and products of a row with shifted ones.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "firn/device/simd.h"
#include "firn/device/simd_part.h"

namespace firn::cpu {

// out[j][i] = init[j] + the sum over t of w[j][t] * in[terms[t] + i], for whole tiles of i < n.
template <class T, int kOut>
void SumTerms(const T* in, const int64_t* terms, int64_t count, const T* w, int64_t w_stride,
              const T* init, int64_t n, T* out, int64_t out_stride) {
  using V = Vec<T>;
  constexpr int kVectors = 4;
  constexpr int64_t kLanes = kSimdLanes<T>;
  for (int64_t i = 0; i < n; i += kVectors * kLanes) {
    V sums[kOut][kVectors];
    for (int j = 0; j < kOut; ++j) {
      for (int v = 0; v < kVectors; ++v) sums[j][v] = V{} + init[j];
    }
    for (int64_t t = 0; t < count; ++t) {
      const T* from = in + terms[t] + i;
      V x[kVectors];
      for (int v = 0; v < kVectors; ++v) x[v] = inner::internal::LoadAll(from + v * kLanes);
      for (int j = 0; j < kOut; ++j) {
        const T weight = w[j * w_stride + t];
        for (int v = 0; v < kVectors; ++v) sums[j][v] += x[v] * weight;
      }
    }
    for (int j = 0; j < kOut; ++j) {
      T* const to = out + j * out_stride + i;
      for (int v = 0; v < kVectors; ++v) inner::internal::StoreAll<T>(sums[j][v], to + v * kLanes);
    }
  }
}

// sums[t] = the sum over i < n of y[i] * x[terms[t] + i].
template <class T, int kTaps>
void Products(const T* y, const T* x, const int64_t* terms, int64_t n, T* sums) {
  using V = Vec<T>;
  V acc[kTaps] = {};
  for (int64_t i = 0; i < n; i += kSimdLanes<T>) {
    const V dy = inner::internal::LoadAll(y + i);
    for (int t = 0; t < kTaps; ++t) acc[t] += dy * inner::internal::LoadAll(x + terms[t] + i);
  }
  for (int t = 0; t < kTaps; ++t) {
    T sum = 0;
    for (int64_t lane = 0; lane < kSimdLanes<T>; ++lane) sum += acc[t][lane];
    sums[t] = sum;
  }
}

inline constexpr int64_t kMostProducts = 9;  // at once: a kernel of 3 x 3

template <class T, size_t... kCounts>
void SomeProducts(std::index_sequence<kCounts...>, int64_t count, const T* y, const T* x,
                  const int64_t* terms, int64_t n, T* sums) {
  using Fn = void (*)(const T*, const T*, const int64_t*, int64_t, T*);
  static constexpr Fn kFns[] = {Products<T, static_cast<int>(kCounts) + 1>...};
  kFns[count - 1](y, x, terms, n, sums);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_SHIFT_SUMS_H_
