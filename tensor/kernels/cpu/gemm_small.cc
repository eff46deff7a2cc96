// Small products: both operands are copied into rows of one width, so that a few rows of the result
// stay in registers while the inner direction is walked. Outer products: a strip of the row is
// multiplied by one element of the column after the other.

#include "firn/tensor/kernels/cpu/gemm_small.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/divide.h"

namespace firn::cpu {
namespace {

constexpr int64_t kStrip = 1024;

// A small matrix, dense in rows of `length`, in the type that is computed in.
template <class T, class Acc>
void LoadSmall(const T* from, const MatrixStrides& s, int64_t rows, int64_t cols, int64_t length,
               Acc* to) {
  T strip[std::is_same_v<T, Acc> ? 1 : kSmall * kSmall];
  T* dense = strip;
  if constexpr (std::is_same_v<T, Acc>) dense = to;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) dense[i * length + j] = from[i * s.row + j * s.col];
    for (int64_t j = cols; j < length; ++j) dense[i * length + j] = T(0);
  }
  if constexpr (!std::is_same_v<T, Acc>) ToFloats(strip, rows * length, to);
}

// to[i] = from[i * step], n <= kStrip of them.
template <class T, class Acc>
void LoadLine(const T* from, int64_t step, int64_t n, Acc* to) {
  if (step == 1) return LoadAs(from, n, to);
  T strip[kStrip];
  for (int64_t i = 0; i < n; ++i) strip[i] = from[i * step];
  LoadAs(strip, n, to);
}

// kRows rows of a product, of which the columns behind the last are zeros.
template <int kRows, class Acc>
FIRN_ALWAYS_INLINE void SmallRows(const Acc* a, int64_t k, const Acc* b, Acc* sums) {
  using V = Vec<Acc>;
  constexpr int kLanes = static_cast<int>(kSimdLanes<Acc>);
  constexpr int kWidth = static_cast<int>(kSmall) / kLanes;
  V acc[kRows][kWidth] = {};
  for (int64_t p = 0; p < k; ++p) {
    V right[kWidth];
    for (int w = 0; w < kWidth; ++w) {
      right[w] = inner::internal::LoadAll(b + p * kSmall + w * kLanes);
    }
    for (int r = 0; r < kRows; ++r) {
      for (int w = 0; w < kWidth; ++w) acc[r][w] += a[r * k + p] * right[w];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int w = 0; w < kWidth; ++w) {
      inner::internal::StoreAll<Acc>(acc[r][w], sums + (r * kWidth + w) * kLanes);
    }
  }
}

}  // namespace

template <class T>
void MultiplySmall(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate) {
  using Acc = ComputeOf<T>;
  constexpr int kRows = 4;
  constexpr int64_t kRoom = kSmall * kSmall;
  alignas(64) Acc left[kRoom], right[kRoom], sums[kRoom];
  LoadSmall(a, s.a, s.m, s.k, s.k, left);
  LoadSmall(b, s.b, s.k, s.n, kSmall, right);
  int64_t i = 0;
  for (; i + kRows <= s.m; i += kRows) {
    SmallRows<kRows>(left + i * s.k, s.k, right, sums + i * kSmall);
  }
  for (; i < s.m; ++i) SmallRows<1>(left + i * s.k, s.k, right, sums + i * kSmall);
  if (accumulate) {
    LoadSmall(c, {s.c_row, 1}, s.m, s.n, kSmall, right);
    for (i = 0; i < s.m * kSmall; ++i) sums[i] += right[i];
  }
  T rounded[std::is_same_v<T, Acc> ? 1 : kRoom];
  const T* from = rounded;
  if constexpr (std::is_same_v<T, Acc>) {
    from = sums;
  } else {
    FromFloats(sums, s.m * kSmall, rounded);
  }
  for (i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) c[i * s.c_row + j] = from[i * kSmall + j];
  }
}

template <class T>
void MultiplyOuter(GemmShape s, const T* a, const T* b, T* c, bool accumulate) {
  using Acc = ComputeOf<T>;
  constexpr int64_t kBand = 64;
  if (s.n == 1 && s.c_row == 1) {  // a column is a row
    std::swap(a, b);
    s = {.m = 1, .n = s.m, .k = 1, .a = {1, 1}, .b = {1, s.a.row}, .c_row = s.m};
  }
  const int64_t strips = CeilDiv(s.n, kStrip), bands = CeilDiv(s.m, kBand);
  const int64_t work = std::min(s.n, kStrip) * std::min(s.m, kBand);
  ParallelFor(strips * bands, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    Acc right[kStrip];
    Piece<T, kStrip> old, sums;
    for (int64_t at = begin; at < end; ++at) {
      const int64_t j = at % strips * kStrip, n = std::min(kStrip, s.n - j);
      LoadLine(b + j * s.b.col, s.b.col, n, right);
      const int64_t first = at / strips * kBand;
      for (int64_t i = first; i < std::min(s.m, first + kBand); ++i) {
        const Acc left = static_cast<Acc>(a[i * s.a.row]);
        T* const row = c + i * s.c_row + j;
        Acc* const to = sums.Room(row);
        if (accumulate) {
          const Acc* const before = old.Read(row, n);
          FIRN_INDEPENDENT_STEPS
          for (int64_t l = 0; l < n; ++l) to[l] = before[l] + left * right[l];
        } else {
          FIRN_INDEPENDENT_STEPS
          for (int64_t l = 0; l < n; ++l) to[l] = left * right[l];
        }
        sums.Write(row, n);
      }
    }
  });
}

template void MultiplySmall(const GemmShape&, const float*, const float*, float*, bool);
template void MultiplySmall(const GemmShape&, const double*, const double*, double*, bool);
template void MultiplySmall(const GemmShape&, const Half*, const Half*, Half*, bool);
template void MultiplySmall(const GemmShape&, const BFloat16*, const BFloat16*, BFloat16*, bool);
template void MultiplyOuter(GemmShape, const float*, const float*, float*, bool);
template void MultiplyOuter(GemmShape, const double*, const double*, double*, bool);
template void MultiplyOuter(GemmShape, const Half*, const Half*, Half*, bool);
template void MultiplyOuter(GemmShape, const BFloat16*, const BFloat16*, BFloat16*, bool);

}  // namespace firn::cpu
