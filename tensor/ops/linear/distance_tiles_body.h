#ifndef FIRN_TENSOR_OPS_LINEAR_DISTANCE_TILES_BODY_H_
#define FIRN_TENSOR_OPS_LINEAR_DISTANCE_TILES_BODY_H_

// cdist on the CPU: lanes run over rows of y, a block of which is transposed, so that no sum has to
// be gathered from lanes; a few rows of x share the reads of it. Long rows are added up a stretch
// at a time, and the sums of stretches stay in the result.
//
// cdist_grad: lanes run along rows. A block of pairs at a time is read from dy and the distances,
// along their lines in either orientation; then a stretch of dx stays in registers while the
// block's rows of y, which stay in the nearest cache, go by in order as in the portable kernel.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/ops/linear/distance_body.h"

namespace firn::cpu {

// map and combine of a reducer for a register of differences.
template <class T>
FIRN_ALWAYS_INLINE Vec<T> Sizes(Vec<T> d) {
  typedef BitsOf<T> Bits __attribute__((vector_size(kSimdBytes)));
  return reinterpret_cast<Vec<T>>(reinterpret_cast<Bits>(d) & (~BitsOf<T>{0} >> 1));
}
template <class T>
FIRN_ALWAYS_INLINE Vec<T> WithTerm(const SquareSum<T>&, Vec<T> sum, Vec<T> d) {
  return sum + d * d;
}
template <class T>
FIRN_ALWAYS_INLINE Vec<T> WithTerm(const AbsSum<T>&, Vec<T> sum, Vec<T> d) {
  return sum + Sizes<T>(d);
}
template <class T>
FIRN_ALWAYS_INLINE Vec<T> WithTerm(const NonzeroCount<T>&, Vec<T> sum, Vec<T> d) {
  return d != 0 ? sum + 1 : sum;
}
template <class T>
FIRN_ALWAYS_INLINE Vec<T> WithTerm(const AbsExtreme<T, true>&, Vec<T> most, Vec<T> d) {
  const Vec<T> size = Sizes<T>(d);
  return (size > most) | (size != size) ? size : most;
}

template <class T, class R>
class DistanceTiles {
 public:
  static constexpr int64_t kLanes = kSimdLanes<T>, kRows = 4, kColumns = 2 * kLanes;
  static constexpr int64_t kRowBlock = 64, kDepth = 64;

  explicit DistanceTiles(const CdistBody<T, R>& body) : body_(body), pairs_(body.pairs) {}

  // All distances of `count` pairs of matrices.
  static void Run(const CdistBody<T, R>& body, int64_t count) {
    const RowPairs& p = body.pairs;
    const int64_t columns = CeilDiv(p.m, kColumns), rows = CeilDiv(p.n, kRowBlock);
    const int64_t cost = std::max<int64_t>(1, kRowBlock * kColumns * p.d / 16);
    ParallelFor(count * columns * rows, CeilDiv(kBodyGrain, cost), [&](int64_t from, int64_t to) {
      DistanceTiles tiles(body);
      ForEachRowOf(from, to, rows, [&](int64_t block, int64_t first, int64_t last) {
        tiles.Block(block / columns, block % columns * kColumns, first * kRowBlock,
                    std::min(p.n, last * kRowBlock));
      });
    });
  }

 private:
  // Rows [first, last) of matrix `at` of x with the rows of y from `column` on.
  void Block(int64_t at, int64_t column, int64_t first, int64_t last) {
    const int64_t n = std::min(kColumns, pairs_.m - column);
    for (int64_t k = 0; k < pairs_.d; k += kDepth) {
      const int64_t depth = std::min(kDepth, pairs_.d - k);
      Turn(body_.y + (at * pairs_.m + column) * pairs_.d + k, n, depth);
      const bool ends = k + depth == pairs_.d;
      const auto some = [&]<int64_t kCount>(std::integral_constant<int64_t, kCount>, int64_t i) {
        Sums<kCount> sums = Stretch<kCount>(at * pairs_.n + i, k, depth);
        // Their roots are computed while the differences of the next ones are.
        for (int64_t r = 0; r < kCount; ++r) {
          T* const out = body_.out + (at * pairs_.n + i + r) * pairs_.m + column;
          if (k > 0) Join(out, n, sums.of[r]);
          if (ends) Finish(at * pairs_.n + i + r, at * pairs_.m + column, n, sums.of[r]);
          Store(sums.of[r], n, out);
        }
      };
      int64_t i = first;
      for (; i + kRows <= last; i += kRows) some(std::integral_constant<int64_t, kRows>(), i);
      for (; i < last; ++i) some(std::integral_constant<int64_t, 1>(), i);
    }
  }

  // tile_[k] = element k of the rows of y, with zeros for missing rows.
  void Turn(const T* y, int64_t n, int64_t depth) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < n; ++j) tile_[k][j] = y[j * pairs_.d + k];
      for (int64_t j = n; j < kColumns; ++j) tile_[k][j] = 0;
    }
  }

  // By row of x, kColumns side by side.
  template <int64_t kCount>
  struct Sums {
    Vec<T> of[kCount][2];
  };

  // The sums of the stretch of `depth` elements from k on of so many rows of x.
  template <int64_t kCount>
  FIRN_ALWAYS_INLINE Sums<kCount> Stretch(int64_t row, int64_t k, int64_t depth) const {
    Sums<kCount> sums;
#pragma GCC unroll 4
    for (int64_t i = 0; i < kCount; ++i) {
      sums.of[i][0] = sums.of[i][1] = Vec<T>{} + body_.reducer.identity();
    }
    const T* const x = body_.x + row * pairs_.d + k;
    for (int64_t e = 0; e < depth; ++e) {
      const Vec<T> y[2] = {Whole(tile_[e]), Whole(tile_[e] + kLanes)};
#pragma GCC unroll 4
      for (int64_t i = 0; i < kCount; ++i) {
        const T one = x[i * pairs_.d + e];
        sums.of[i][0] = WithTerm(body_.reducer, sums.of[i][0], one - y[0]);
        sums.of[i][1] = WithTerm(body_.reducer, sums.of[i][1], one - y[1]);
      }
    }
    return sums;
  }
  static FIRN_ALWAYS_INLINE Vec<T> Whole(const T* from) {
    Vec<T> v;
    std::memcpy(&v, from, sizeof(v));
    return v;
  }
  // Joins what earlier stretches left in the result.
  FIRN_ALWAYS_INLINE void Join(const T* out, int64_t n, Vec<T>* sums) const {
    const int64_t part = std::min(kLanes, n);
    sums[0] = Both(inner::internal::LoadPart(out, part), sums[0]);
    if (n > part) sums[1] = Both(inner::internal::LoadPart(out + part, n - part), sums[1]);
  }
  // The sums of two stretches, or the larger of two extremes.
  Vec<T> Both(Vec<T> a, Vec<T> b) const {
    if constexpr (std::is_same_v<R, AbsExtreme<T, true>>) return WithTerm(body_.reducer, a, b);
    return a + b;
  }
  static FIRN_ALWAYS_INLINE void Store(const Vec<T>* from, int64_t n, T* to) {
    if (n == kColumns) {
      std::memcpy(to, from, kColumns * sizeof(T));
      return;
    }
    const int64_t part = std::min(kLanes, n);
    inner::internal::StorePart<T>(from[0], part, to);
    if (n > part) inner::internal::StorePart<T>(from[1], n - part, to + part);
  }

  // Turns into distances the sums of a row of x with n rows of y from `other` on.
  FIRN_ALWAYS_INLINE void Finish(int64_t row, int64_t other, int64_t n, Vec<T>* sums) const {
    if constexpr (kSumsPowers<R>) {
      T distances[kColumns];
      std::memcpy(distances, sums, sizeof(distances));
      int odd = 0;
      // Otherwise g++ 12 unrolls the 16 steps of doubles, and computes most roots one by one.
#pragma GCC unroll 1
      for (int64_t j = 0; j < kColumns; ++j) {
        const T distance = body_.reducer.finish(distances[j], pairs_.d);
        const bool far = (distance < body_.least) | (distance > std::numeric_limits<T>::max());
        odd |= (j < n) & far ? 1 : 0;
        distances[j] = distance;
      }
      if (odd != 0) [[unlikely]]
        Check(row, other, n, distances);
      std::memcpy(sums, distances, sizeof(distances));
    }
  }
  FIRN_NOINLINE void Check(int64_t row, int64_t other, int64_t n, T* distances) const {
    for (int64_t j = 0; j < n; ++j) {
      distances[j] =
          body_.Checked(body_.x + row * pairs_.d, body_.y + (other + j) * pairs_.d, distances[j]);
    }
  }

  const CdistBody<T, R> body_;
  const RowPairs pairs_;
  alignas(64) T tile_[kDepth][kColumns];
};

template <class T, class Slope>
struct DistanceGradRows {
  // Two rows of x and their sums stay in registers: there are 32 of 64 bytes, 16 of others.
  static constexpr int64_t kLanes = kSimdLanes<T>, kVecs = kSimdBytes == 64 ? 4 : 2, kTogether = 2;
  static constexpr int64_t kLines = 16, kAlong = 64;  // of dy in a block
  const CdistGradBody<T, Slope> body;

  // Rows [begin, end) of dx.
  void operator()(int64_t begin, int64_t end) const {
    ForEachRowOf(begin, end, body.pairs.n, [&](int64_t at, int64_t first, int64_t last) {
      Rows(at * body.pairs.n + first, last - first, body.y + at * body.pairs.m * body.pairs.d);
    });
  }
  int64_t cost() const { return std::max<int64_t>(1, body.cost() / 8); }

 private:
  // The gradients of pairs of rows, 0 for rows that are equal, and their distances.
  struct Pairs {
    T flows[kLines * kAlong], distances[kLines * kAlong];
  };
  // The place of number i of a block's rows of x and number j of those of y.
  int64_t Place(int64_t i, int64_t j) const {
    return body.turned ? j * kAlong + i : i * kAlong + j;
  }

  // Rows [row, row + rows) of dx, which have the same y.
  void Rows(int64_t row, int64_t rows, const T* y) const {
    std::fill_n(body.dx + row * body.pairs.d, rows * body.pairs.d, T(0));
    const int64_t lines = body.turned ? body.pairs.m : rows;
    const int64_t along = body.turned ? rows : body.pairs.m;
    bool far = false;
    for (int64_t line = 0; line < lines; line += kLines) {
      const int64_t height = std::min(kLines, lines - line);
      for (int64_t e = 0; e < along; e += kAlong) {
        const int64_t width = std::min(kAlong, along - e);
        far |= body.turned ? Block(row + e, width, line, height, y)
                           : Block(row + line, height, e, width, y);
      }
    }
    for (int64_t i = 0; far && i < rows; ++i) AddFar(row + i);
  }

  // Adds the contributions of rows [j, j + others) of y to these rows. Returns whether there are
  // pairs with another slope, which are left out.
  bool Block(int64_t row, int64_t rows, int64_t j, int64_t others, const T* y) const {
    const int64_t d = body.pairs.d;
    Pairs pairs;
    const bool far = ReadPairs(row, rows, j, others, pairs);
    for (int64_t k = 0; k < d; k += kVecs * kLanes) {
      const int64_t n = std::min(kVecs * kLanes, d - k);
      const bool whole = n == kVecs * kLanes;
      int64_t i = 0;
      for (; whole && i + kTogether <= rows; i += kTogether) {
        Stretch<kTogether, true>(pairs, i, row, others, y + j * d + k, k, n);
      }
      for (; i < rows; ++i) Stretch<1, false>(pairs, i, row, others, y + j * d + k, k, n);
    }
    return far;
  }

  bool ReadPairs(int64_t row, int64_t rows, int64_t j, int64_t others, Pairs& to) const {
    const int64_t lines = body.turned ? others : rows, n = body.turned ? rows : others;
    BitsOf<T> far = 0;  // as wide as elements, so that all goes by vectors
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t from = body.turned ? body.of_pair(row, j + line) : body.of_pair(row + line, j);
      const T *const distances = body.distances + from, *const dy = body.dy + from;
      T *const flows = to.flows + line * kAlong, *const read = to.distances + line * kAlong;
      FIRN_INDEPENDENT_STEPS
      for (int64_t e = 0; e < n; ++e) {
        const T distance = distances[e], flow = body.slope.of(dy[e], distance);
        const bool none = distance == 0, odd = IsFar<Slope>(dy[e], distance, flow);
        flows[e] = none | odd ? T(0) : flow;
        read[e] = distance;
        far |= !none & odd ? BitsOf<T>{1} : BitsOf<T>{0};
      }
    }
    return far != 0;
  }

  // Elements [k, k + n) of rows [row + first, row + first + kCount); kWhole: n fills the registers.
  template <int64_t kCount, bool kWhole>
  void Stretch(const Pairs& pairs, int64_t first, int64_t row, int64_t others, const T* y,
               int64_t k, int64_t n) const {
    const int64_t d = body.pairs.d, start = (row + first) * d + k;
    // The places of a pair, and how far the next row of x and of y is.
    const int64_t begin = Place(first, 0), apart = Place(1, 0), step = Place(0, 1);
    const T *flow = pairs.flows + begin, *distance = pairs.distances + begin;
    Vec<T> x[kCount][kVecs] = {}, sums[kCount][kVecs] = {};
#pragma GCC unroll 2
    for (int64_t i = 0; i < kCount; ++i) {
      Load<kWhole>(body.x + start + i * d, n, x[i]);
      Load<kWhole>(body.dx + start + i * d, n, sums[i]);
    }
    for (int64_t j = 0; j < others; ++j) {
      Vec<T> b[kVecs];
      Load<kWhole>(y + j * d, n, b);
#pragma GCC unroll 2
      for (int64_t i = 0; i < kCount; ++i) {
        const int64_t place = j * step + i * apart;
#pragma GCC unroll 4
        for (int64_t v = 0; v < kVecs; ++v) {
          sums[i][v] += Flow(flow[place], x[i][v] - b[v], distance[place]);
        }
      }
    }
#pragma GCC unroll 2
    for (int64_t i = 0; i < kCount; ++i) Store(sums[i], n, body.dx + start + i * d);
  }

  // Adds the pairs that have another slope than the rest.
  FIRN_NOINLINE void AddFar(int64_t row) const {
    const int64_t d = body.pairs.d;
    const T* const x = body.x + row * d;
    T* const dx = body.dx + row * d;
    for (int64_t j = 0; j < body.pairs.m; ++j) {
      const int64_t pair = body.of_pair(row, j);
      const T distance = body.distances[pair], dy = body.dy[pair];
      if (distance == 0 || !IsFar<Slope>(dy, distance, body.slope.of(dy, distance))) continue;
      const T* const y = body.y + body.pairs.of_y(row, j);
      for (int64_t e = 0; e < d; ++e) {
        dx[e] += SlopeOfFarRoot<T>()(dy, x[e] - y[e], distance);
      }
    }
  }
  FIRN_ALWAYS_INLINE Vec<T> Flow(T flow, Vec<T> d, T distance) const {
    if constexpr (std::is_same_v<Slope, SlopeOfRoot<T>>) return flow * d;
    const Vec<T> up = Vec<T>{} + flow, none = {};
    const Vec<T> flows = d > 0 ? up : d < 0 ? -up : none;
    if constexpr (std::is_same_v<Slope, SlopeOfLargest<T>>) {
      return Sizes<T>(d) < distance ? none : flows;
    }
    return flows;
  }
  template <bool kWhole>
  static FIRN_ALWAYS_INLINE void Load(const T* from, int64_t n, Vec<T>* to) {
    if constexpr (kWhole) {
#pragma GCC unroll 4
      for (int64_t v = 0; v < kVecs; ++v) std::memcpy(to + v, from + v * kLanes, sizeof(Vec<T>));
      return;
    }
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVecs; ++v) {
      const int64_t left = n - v * kLanes;
      to[v] = left <= 0 ? Vec<T>{}
                        : inner::internal::LoadPart(from + v * kLanes, std::min(left, kLanes));
    }
  }
  static FIRN_ALWAYS_INLINE void Store(const Vec<T>* from, int64_t n, T* to) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVecs; ++v) {
      if (v * kLanes >= n) return;
      inner::internal::StorePart<T>(from[v], std::min(kLanes, n - v * kLanes), to + v * kLanes);
    }
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINEAR_DISTANCE_TILES_BODY_H_
