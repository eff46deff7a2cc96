// The filter side of Winograd F(4x4,3x3) and F(2x2,5x5): U = G g G^T and its adjoint
// dg = G^T dU G with, for interpolation points 0, a, -a, b, -b and infinity,
//   G = [1/(a^2 b^2) 0 0; [1 a a^2]/n; [1 -a a^2]/n; [1 b b^2]/f; [1 -b b^2]/f; 0 0 1]
//   n = 2 a^2 (a^2 - b^2), f = 2 b^2 (b^2 - a^2)
// (after Lavin & Gray): row i holds the powers of an interpolation point, over the product of its
// distances to the others; two powers more for 5x5. Filters are stored tap by tap, the transform
// wants vectors of kBlock channels per tap: eight filters at a time go through 8x8 transpositions
// of eight taps each, the last tap is moved one by one.

#include <algorithm>

#include "firn/tensor/kernels/cpu/internal/winograd_stages.h"

namespace firn::winograd {
namespace {

// 1 over the product of a point's distances to the others.
constexpr float kAtZero = 1 / (kNear2 * kFar2);
constexpr float kAtNear = 1 / (2 * kNear2 * (kNear2 - kFar2));
constexpr float kAtFar = 1 / (2 * kFar2 * (kFar2 - kNear2));

template <int kTaps>
FIRN_ALWAYS_INLINE void FilterTransform(const Channels g[kTaps], Channels t[6]) {
  Channels even1 = g[0] * kAtNear + g[2] * (kAtNear * kNear2);
  Channels even2 = g[0] * kAtFar + g[2] * (kAtFar * kFar2);
  Channels odd1 = g[1] * (kAtNear * kNear), odd2 = g[1] * (kAtFar * kFar);
  if constexpr (kTaps == 5) {
    even1 += g[4] * (kAtNear * kNear2 * kNear2);
    odd1 += g[3] * (kAtNear * kNear2 * kNear);
    even2 += g[4] * (kAtFar * kFar2 * kFar2);
    odd2 += g[3] * (kAtFar * kFar2 * kFar);
  }
  t[0] = g[0] * kAtZero;
  t[1] = even1 + odd1;
  t[2] = even1 - odd1;
  t[3] = even2 + odd2;
  t[4] = even2 - odd2;
  t[5] = g[kTaps - 1];
}

template <int kTaps>
FIRN_ALWAYS_INLINE void FilterAdjoint(const Channels u[6], Channels w[kTaps]) {
  const Channels even1 = (u[1] + u[2]) * kAtNear, odd1 = (u[1] - u[2]) * (kAtNear * kNear);
  const Channels even2 = (u[3] + u[4]) * kAtFar, odd2 = (u[3] - u[4]) * (kAtFar * kFar);
  w[0] = u[0] * kAtZero + even1 + even2;
  w[1] = odd1 + odd2;
  w[2] = even1 * kNear2 + even2 * kFar2;
  if constexpr (kTaps == 5) {
    w[3] = odd1 * kNear2 + odd2 * kFar2;
    w[4] = even1 * (kNear2 * kNear2) + even2 * (kFar2 * kFar2);
  }
  w[kTaps - 1] += u[5];
}

// taps[t][c] = filters[c * stride + t] for kBlock filters.
template <int kSquare>
inline void LoadTaps(const float* filters, int64_t stride, float taps[kSquare][kBlock]) {
  static_assert(kSquare % 8 == 1);
  for (int group = 0; group < kBlock; group += 8, filters += 8 * stride) {
    for (int first = 0; first < kSquare - 1; first += 8) {
      Row8 rows[8];
      Unroll<8>([&](auto i) __attribute__((always_inline)) {
        rows[i] = *reinterpret_cast<const UnalignedRow8*>(filters + i * stride + first);
      });
      Transpose8(rows);
      Unroll<8>([&](auto i) __attribute__((always_inline)) {
        *reinterpret_cast<Row8*>(&taps[first + i][group]) = rows[i];
      });
    }
    for (int i = 0; i < 8; ++i) taps[kSquare - 1][group + i] = filters[i * stride + kSquare - 1];
  }
}

// filters[kSquare * c + t] = taps[t][c] for kBlock consecutive filters.
template <int kSquare>
inline void StoreTaps(const float taps[kSquare][kBlock], float* filters) {
  for (int group = 0; group < kBlock; group += 8, filters += 8 * kSquare) {
    for (int first = 0; first < kSquare - 1; first += 8) {
      Row8 rows[8];
      Unroll<8>([&](auto i) __attribute__((always_inline)) {
        rows[i] = *reinterpret_cast<const Row8*>(&taps[first + i][group]);
      });
      Transpose8(rows);
      Unroll<8>([&](auto i) __attribute__((always_inline)) {
        *reinterpret_cast<UnalignedRow8*>(filters + i * kSquare + first) = rows[i];
      });
    }
    for (int i = 0; i < 8; ++i) filters[i * kSquare + kSquare - 1] = taps[kSquare - 1][group + i];
  }
}

// The 36 points of kBlock filters, whose tap number t is at taps[t * tap_stride].
template <int kTaps>
inline void TransformTaps(const float* taps, int tap_stride, float* u, int64_t point_stride) {
  Channels half[kPatch][kTaps];
  for (int j = 0; j < kTaps; ++j) {
    Channels g[kTaps], t[kPatch];
    Unroll<kTaps>([&](auto i) __attribute__((always_inline)) {
      g[i] = Load(taps + (kTaps * i + j) * tap_stride);
    });
    FilterTransform<kTaps>(g, t);
    Unroll<kPatch>([&](auto i) __attribute__((always_inline)) { half[i][j] = t[i]; });
  }
  for (int i = 0; i < kPatch; ++i) {
    Channels t[kPatch];
    FilterTransform<kTaps>(half[i], t);
    Unroll<kPatch>([&](auto j) __attribute__((always_inline)) {
      Store(u + (i * kPatch + j) * point_stride, t[j]);
    });
  }
}

template <int kTaps>
void TransformFilterRows(const FilterView& view, const float* weight, int64_t first_column,
                         int64_t width, Range rows, float* u, int64_t point_stride) {
  constexpr int kSquare = kTaps * kTaps;
  for (int64_t row = rows.begin; row < rows.end; ++row, u += width) {
    for (int64_t column = 0; column < width; column += kBlock) {
      alignas(64) float taps[kSquare][kBlock];
      LoadTaps<kSquare>(
          weight + row * view.row_stride + (first_column + column) * view.column_stride,
          view.column_stride, taps);
      if (view.rotate) {
        TransformTaps<kTaps>(taps[kSquare - 1], -kBlock, u + column, point_stride);
      } else {
        TransformTaps<kTaps>(taps[0], kBlock, u + column, point_stride);
      }
    }
  }
}

template <int kTaps>
void TransformGradientRows(const float* du, int64_t point_stride, int64_t in_channels,
                           int64_t out_channels, int64_t block, Range outputs, float* dweight) {
  constexpr int kSquare = kTaps * kTaps;
  for (int64_t output = outputs.begin; output < outputs.end; ++output) {
    const float* point = du + (block * out_channels + output) * kBlock;
    Channels half[kTaps][kPatch];
    for (int j = 0; j < kPatch; ++j) {
      Channels u[kPatch], w[kTaps];
      Unroll<kPatch>([&](auto i) __attribute__((always_inline)) {
        u[i] = Load(point + (i * kPatch + j) * point_stride);
      });
      FilterAdjoint<kTaps>(u, w);
      Unroll<kTaps>([&](auto i) __attribute__((always_inline)) { half[i][j] = w[i]; });
    }
    alignas(64) float taps[kSquare][kBlock];
    for (int i = 0; i < kTaps; ++i) {
      Channels w[kTaps];
      FilterAdjoint<kTaps>(half[i], w);
      Unroll<kTaps>([&](auto j)
                        __attribute__((always_inline)) { Store(taps[kTaps * i + j], w[j]); });
    }
    StoreTaps<kSquare>(taps, dweight + (output * in_channels + block * kBlock) * kSquare);
  }
}

}  // namespace

void TransformFilter(const FilterView& view, const float* weight, int64_t panel, Range rows,
                     float* u, int64_t point_stride) {
  const int64_t first_column = panel * kPanel;
  const int64_t width = std::min<int64_t>(kPanel, view.columns - first_column);
  const auto transform = view.taps == 3 ? TransformFilterRows<3> : TransformFilterRows<5>;
  transform(view, weight, first_column, width, rows,
            u + first_column * view.rows + rows.begin * width, point_stride);
}

void TransformFilterGradient(int taps, const float* du, int64_t point_stride, int64_t in_channels,
                             int64_t out_channels, int64_t block, Range outputs, float* dweight) {
  const auto transform = taps == 3 ? TransformGradientRows<3> : TransformGradientRows<5>;
  transform(du, point_stride, in_channels, out_channels, block, outputs, dweight);
}

}  // namespace firn::winograd
