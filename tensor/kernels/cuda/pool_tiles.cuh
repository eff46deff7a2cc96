#ifndef FIRN_TENSOR_KERNELS_CUDA_POOL_TILES_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_POOL_TILES_CUH_

// Gradients of pooling whose windows lie side by side from the image's first pixel on: each element
// is in one window at most, and neighbours of a row find theirs together.

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn::cuda {

// Elements of a row that are computed together.
template <class T>
inline constexpr int kTileElements = sizeof(T) >= 4 ? static_cast<int>(16 / sizeof(T)) : 4;

// x[i] = flow(window, pixel) for the window that holds element i, 0 where none does. `window`
// counts from the first of all planes, `pixel` within the plane. For one lane, and rows that are
// multiples of kTileElements.
template <class T, class Flow>
struct PoolTilesBody {
  static constexpr int kN = kTileElements<T>;
  PoolAxes s;
  Flow flow;
  T* x;
  int64_t n;  // elements

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const PoolPlace at = PoolPlaceOf(i, s.d.in, s.h.in, s.w.in / kN, 1);
    const int64_t slice = Quotient(at.slice, s.d.kernel), row = Quotient(at.row, s.h.kernel);
    const bool inside = slice < s.d.out && row < s.h.out;
    const int64_t windows = ((at.plane * s.d.out + slice) * s.h.out + row) * s.w.out;
    const int64_t pixel = (at.slice * s.h.in + at.row) * s.w.in + at.col * kN;
    int64_t window = at.col * kN, tap = TakeDigit(window, s.w.kernel);
    Elements<T, kN> result;
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      const bool held = inside && window < s.w.out;
      result.v[j] = held ? flow(windows + window, pixel + j) : T(0);
      if (++tap == s.w.kernel) {
        tap = 0;
        ++window;
      }
    }
    StoreElements(x, i * kN, n, result);
  }
};

// Whether images of so many lanes can be computed in this way.
template <class T>
bool ArePoolTiles(const PoolAxes& s, int64_t lanes) {
  return lanes == 1 && s.w.in % kTileElements<T> == 0 && s.d.tiles() && s.h.tiles() && s.w.tiles();
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_POOL_TILES_CUH_
