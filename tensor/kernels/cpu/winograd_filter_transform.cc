// The filter side of Winograd F(4x4,3x3): U = G g G^T and its adjoint dg = G^T dU G with
//   G = [1/4 0 0; -1/6 -1/6 -1/6; -1/6 1/6 -1/6; 1/24 1/12 1/6; 1/24 -1/12 1/6; 0 0 1]
// (Lavin & Gray). Filters are stored as nine consecutive taps, the transform wants vectors of
// kBlock channels per tap: eight filters at a time go through an 8x8 transposition of their first
// eight taps, the ninth is moved one by one.

#include <algorithm>

#include "tensor/kernels/cpu/internal/winograd_stages.h"

namespace firn::winograd {
namespace {

constexpr int kTaps = 9;

FIRN_ALWAYS_INLINE void FilterTransform(const Channels g[3], Channels t[6]) {
  const Channels even1 = (g[0] + g[2]) * (-1.0f / 6);
  const Channels odd1 = g[1] * (-1.0f / 6);
  const Channels even2 = g[0] * (1.0f / 24) + g[2] * (1.0f / 6);
  const Channels odd2 = g[1] * (1.0f / 12);
  t[0] = g[0] * 0.25f;
  t[1] = even1 + odd1;
  t[2] = even1 - odd1;
  t[3] = even2 + odd2;
  t[4] = even2 - odd2;
  t[5] = g[2];
}

FIRN_ALWAYS_INLINE void FilterAdjoint(const Channels u[6], Channels w[3]) {
  const Channels even1 = (u[1] + u[2]) * (1.0f / 6);
  const Channels odd1 = (u[2] - u[1]) * (1.0f / 6);
  const Channels even2 = u[3] + u[4];
  const Channels odd2 = u[3] - u[4];
  w[0] = u[0] * 0.25f - even1 + even2 * (1.0f / 24);
  w[1] = odd1 + odd2 * (1.0f / 12);
  w[2] = u[5] - even1 + even2 * (1.0f / 6);
}

// taps[t][c] = filters[c * stride + t] for kBlock filters.
inline void LoadTaps(const float* filters, int64_t stride, float taps[kTaps][kBlock]) {
  for (int group = 0; group < kBlock; group += 8, filters += 8 * stride) {
    Row8 rows[8];
    Unroll<8>([&](auto i) __attribute__((always_inline)) {
      rows[i] = *reinterpret_cast<const UnalignedRow8*>(filters + i * stride);
    });
    Transpose8(rows);
    Unroll<8>([&](auto i) __attribute__((always_inline)) {
      *reinterpret_cast<Row8*>(&taps[i][group]) = rows[i];
      taps[8][group + i] = filters[i * stride + 8];
    });
  }
}

// filters[9 * c + t] = taps[t][c] for kBlock consecutive filters.
inline void StoreTaps(const float taps[kTaps][kBlock], float* filters) {
  for (int group = 0; group < kBlock; group += 8, filters += 8 * kTaps) {
    Row8 rows[8];
    Unroll<8>([&](auto i) __attribute__((always_inline)) {
      rows[i] = *reinterpret_cast<const Row8*>(&taps[i][group]);
    });
    Transpose8(rows);
    Unroll<8>([&](auto i) __attribute__((always_inline)) {
      *reinterpret_cast<UnalignedRow8*>(filters + i * kTaps) = rows[i];
      filters[i * kTaps + 8] = taps[8][group + i];
    });
  }
}

// The 36 points of kBlock filters, whose tap number t is at taps[t * tap_stride].
inline void TransformTaps(const float* taps, int tap_stride, float* u, int64_t point_stride) {
  Channels half[kPatch][3];
  for (int j = 0; j < 3; ++j) {
    Channels g[3], t[kPatch];
    Unroll<3>([&](auto i)
                  __attribute__((always_inline)) { g[i] = Load(taps + (3 * i + j) * tap_stride); });
    FilterTransform(g, t);
    Unroll<kPatch>([&](auto i) __attribute__((always_inline)) { half[i][j] = t[i]; });
  }
  for (int i = 0; i < kPatch; ++i) {
    Channels t[kPatch];
    FilterTransform(half[i], t);
    Unroll<kPatch>([&](auto j) __attribute__((always_inline)) {
      Store(u + (i * kPatch + j) * point_stride, t[j]);
    });
  }
}

}  // namespace

void TransformFilter(const FilterView& view, const float* weight, int64_t panel, Range rows,
                     float* u, int64_t point_stride) {
  const int64_t first_column = panel * kPanel;
  const int64_t width = std::min<int64_t>(kPanel, view.columns - first_column);
  u += first_column * view.rows + rows.begin * width;
  for (int64_t row = rows.begin; row < rows.end; ++row, u += width) {
    for (int64_t column = 0; column < width; column += kBlock) {
      alignas(64) float taps[kTaps][kBlock];
      LoadTaps(weight + row * view.row_stride + (first_column + column) * view.column_stride,
               view.column_stride, taps);
      if (view.rotate) {
        TransformTaps(taps[8], -kBlock, u + column, point_stride);
      } else {
        TransformTaps(taps[0], kBlock, u + column, point_stride);
      }
    }
  }
}

void TransformFilterGradient(const float* du, int64_t point_stride, int64_t in_channels,
                             int64_t out_channels, int64_t block, Range outputs, float* dweight) {
  for (int64_t output = outputs.begin; output < outputs.end; ++output) {
    const float* point = du + (block * out_channels + output) * kBlock;
    Channels half[3][kPatch];
    for (int j = 0; j < kPatch; ++j) {
      Channels u[kPatch], w[3];
      Unroll<kPatch>([&](auto i) __attribute__((always_inline)) {
        u[i] = Load(point + (i * kPatch + j) * point_stride);
      });
      FilterAdjoint(u, w);
      Unroll<3>([&](auto i) __attribute__((always_inline)) { half[i][j] = w[i]; });
    }
    alignas(64) float taps[kTaps][kBlock];
    for (int i = 0; i < 3; ++i) {
      Channels w[3];
      FilterAdjoint(half[i], w);
      Unroll<3>([&](auto j) __attribute__((always_inline)) { Store(taps[3 * i + j], w[j]); });
    }
    StoreTaps(taps, dweight + (output * in_channels + block * kBlock) * kTaps);
  }
}

}  // namespace firn::winograd
