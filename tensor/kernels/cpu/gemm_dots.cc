// C[i][j] is the dot product of row i of A and column j of B, both of neighbouring elements. A tile
// of C is as many sums as fit into registers, each of a whole vector: a step along the inner
// direction loads a vector of each row and column and multiplies all pairs, and the lanes of the
// sums are added up at the end of a block of the inner direction. Rows and columns are copied to
// lie together before, block by block: in memory they are often a power of two apart, and so share
// few places of a cache.

#include "firn/tensor/kernels/cpu/gemm_dots.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "firn/device/bfloat_dot.h"
#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/device/simd_sums.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"

namespace firn::cpu {
namespace {

// Sides of a tile: 16 sums and 5 operands in 32 registers. With fewer registers IsDots is false.
constexpr int kSide = 4;
// Bytes of a block of a row, of which 2 kSide fit the first-level cache, and of all blocks of A's
// rows, which fit the second-level cache and the stack.
constexpr int64_t kBlockBytes = 3072, kBlocksBytes = 192 << 10;

// A vector of elements of T, of which there are kStep.
template <class T>
struct Dot {
  using Sum = T;
  using Operand = Vec<T>;
  static constexpr int64_t kStep = kSimdLanes<T>;
  FIRN_ALWAYS_INLINE static Vec<T> Add(Vec<T> sum, Operand a, Operand b) { return sum + a * b; }
};
template <>
struct Dot<BFloat16> {
  using Sum = float;
  using Operand = inner::internal::Bfloats;
  static constexpr int64_t kStep = kSimdLanes<uint16_t>;
  FIRN_ALWAYS_INLINE static Vec<float> Add(Vec<float> sum, Operand a, Operand b) {
    return inner::internal::AddBfloatDot(sum, a, b);
  }
};

template <class T>
constexpr int64_t kBlock = kBlockBytes / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr int64_t kMostRows = (kBlocksBytes / kBlockBytes / kSide) * kSide;

// Copies `count` rows of n elements, `step` apart, to lie together: a vector of each row and then
// the next of each. The last vectors are filled up with zeros.
template <class T>
void PackRows(const T* from, int64_t step, int64_t count, int64_t n, T* to) {
  constexpr int64_t kStep = Dot<T>::kStep;
  for (int64_t r = 0; r < count; ++r) {
    const T* const row = from + r * step;
    T* out = to + r * kStep;
    int64_t p = 0;
    for (; p + kStep <= n; p += kStep, out += count * kStep) {
      std::memcpy(out, row + p, kStep * sizeof(T));
    }
    if (p == n) continue;
    std::fill_n(out, kStep, T(0));
    std::copy_n(row + p, n - p, out);
  }
}

// Into a register: g++ otherwise reads the operand again for each product, and loads become the
// bottleneck. Requires: `from` is aligned for vectors.
template <class T>
FIRN_ALWAYS_INLINE typename Dot<T>::Operand LoadOnce(const T* from) {
  typedef typename Dot<T>::Operand Operand __attribute__((may_alias));
  return *reinterpret_cast<const volatile Operand*>(from);
}

// The tile of kRows packed rows and kCols packed columns, of `steps` vectors each.
template <class T, int kRows, int kCols>
void Tile(const T* a, const T* b, int64_t steps, typename Dot<T>::Sum* c, int64_t c_row,
          bool accumulate) {
  using D = Dot<T>;
  using Sum = typename D::Sum;
  constexpr int kLanes = static_cast<int>(kSimdLanes<Sum>);
  constexpr int kSums = (kRows * kCols + kLanes - 1) / kLanes * kLanes;
  Vec<Sum> sums[kSums] = {};
  for (int64_t p = 0; p < steps; ++p) {
    typename D::Operand right[kCols];
    for (int w = 0; w < kCols; ++w) right[w] = LoadOnce<T>(b + (p * kCols + w) * D::kStep);
    for (int r = 0; r < kRows; ++r) {
      const auto left = LoadOnce<T>(a + (p * kRows + r) * D::kStep);
      for (int w = 0; w < kCols; ++w) {
        sums[r * kCols + w] = D::Add(sums[r * kCols + w], left, right[w]);
      }
    }
  }
  Sum total[kSums];
  for (int i = 0; i < kSums; i += kLanes) {
    const Vec<Sum> some = inner::internal::SumOfLanes<Sum>(sums + i);
    std::memcpy(total + i, &some, sizeof(some));
  }
  for (int r = 0; r < kRows; ++r) {
    for (int w = 0; w < kCols; ++w) {
      Sum& to = c[r * c_row + w];
      to = accumulate ? to + total[r * kCols + w] : total[r * kCols + w];
    }
  }
}

template <class T>
using TileOf = void (*)(const T*, const T*, int64_t, typename Dot<T>::Sum*, int64_t, bool);
// Indexed by (rows - 1) * kSide + (columns - 1).
template <class T>
constexpr auto kTiles = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<TileOf<T>, sizeof...(I)>{Tile<T, I / kSide + 1, I % kSide + 1>...};
}
(std::make_index_sequence<kSide * kSide>());

// Prefetches a share of `count` rows of n elements, the part from `begin` to `end` of `of`, a few
// lines at a time, since a processor waits for few at once.
template <class T>
void AskForRows(const T* from, int64_t step, int64_t count, int64_t n, int64_t begin, int64_t end,
                int64_t of) {
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  const int64_t row_lines = (n + kLine - 1) / kLine, lines = count * row_lines;
  for (int64_t i = lines * begin / of; i < lines * end / of; ++i) {
    __builtin_prefetch(from + i / row_lines * step + i % row_lines * kLine);
  }
}

// Computes some rows of C for a block of the inner direction.
template <class T>
void MultiplyBlock(const GemmShape& s, const T* a, const T* b, typename Dot<T>::Sum* c,
                   bool accumulate) {
  // Bytes, for an array of BFloat16 would be cleared.
  alignas(64) char memory[(kMostRows<T> + kSide) * kBlockBytes];
  T* const rows = reinterpret_cast<T*>(memory);
  T* const cols = rows + kMostRows<T> * kBlock<T>;
  const int64_t steps = (s.k + Dot<T>::kStep - 1) / Dot<T>::kStep, length = steps * Dot<T>::kStep;
  for (int64_t i = 0; i < s.m; i += kSide) {
    PackRows(a + i * s.a.row, s.a.row, std::min<int64_t>(kSide, s.m - i), s.k, rows + i * length);
  }
  for (int64_t j = 0; j < s.n; j += kSide) {
    const int64_t width = std::min<int64_t>(kSide, s.n - j);
    PackRows(b + j * s.b.col, s.b.col, width, s.k, cols);
    const int64_t ahead = std::clamp<int64_t>(s.n - j - kSide, 0, kSide);
    const T* const next = b + (ahead > 0 ? j + kSide : 0) * s.b.col;
    for (int64_t i = 0; i < s.m; i += kSide) {
      const int64_t height = std::min<int64_t>(kSide, s.m - i);
      AskForRows(next, s.b.col, ahead, s.k, i, i + height, s.m);
      const auto tile = static_cast<size_t>((height - 1) * kSide + width - 1);
      kTiles<T>[tile](rows + i * length, cols, steps, c + i * s.c_row + j, s.c_row, accumulate);
    }
  }
}

}  // namespace

// oneDNN uses the widest vectors of the processor, even if this file is compiled for narrower ones.
// Times relative to oneDNN 2.6.3, on a Zen 5 core with AVX-512:
//   m     n     k        f32   bf16         m     n     k        f32   bf16
//   8     1024  1024     1.7   0.64         64    64    64       0.92  2.0
//   16    1024  1024     0.47  0.70         64    64    256      0.70  1.14
//   64    1024  1024     0.70  0.82         128   512   256      1.03  1.18
//   128   1024  1024     0.68  0.93         64    10    200      0.55  0.67
//   512   1024  1024     1.03  1.02         1024  10    1024     0.64  0.37
//   64    1024  8192     0.78  0.74         1     1024  1024     3.8   3.8
template <class T>
bool IsDots(const GemmShape& s) {
  if (s.a.col != 1 || s.b.row != 1) return false;
  if (kSimdBytes < 64) return false;
  constexpr bool kHalf = std::is_same_v<T, BFloat16>;
  // A library that uses tiles multiplies several times as fast, even with its preparations.
  if (kHalf && (!inner::internal::HasBfloatDot() || MultipliesTiles())) return false;
  constexpr int64_t kLeastRows = kHalf ? 4 : 16, kMost = 128, kFew = 16;
  if (s.m >= 16 && s.n >= 4 && s.n <= kFew) return s.k >= (kHalf ? 192 : 64);
  // A Sapphire Rapids core takes 1.4 of oneDNN's time for 64 rows and many columns that are short.
  const int64_t shortest = kHalf ? 1024 : s.m >= 32 && s.n > 256 ? 512 : 192;
  return s.m >= kLeastRows && s.m <= kMost && s.n > kFew && s.k >= shortest;
}

template <class T, class Result>
void MultiplyDots(const GemmShape& s, const T* a, const T* b, Result* c, bool accumulate) {
  GemmShape part = s;
  for (int64_t i = 0; i < s.m; i += kMostRows<T>) {
    for (int64_t p = 0; p < s.k; p += kBlock<T>) {
      part.m = std::min(kMostRows<T>, s.m - i);
      part.k = std::min(kBlock<T>, s.k - p);
      MultiplyBlock(part, a + i * s.a.row + p, b + p, c + i * s.c_row, accumulate || p > 0);
    }
  }
}

template bool IsDots<float>(const GemmShape&);
template bool IsDots<BFloat16>(const GemmShape&);
template void MultiplyDots(const GemmShape&, const float*, const float*, float*, bool);
template void MultiplyDots(const GemmShape&, const BFloat16*, const BFloat16*, float*, bool);

}  // namespace firn::cpu
