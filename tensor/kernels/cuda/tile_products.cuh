#ifndef FIRN_TENSOR_KERNELS_CUDA_TILE_PRODUCTS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_TILE_PRODUCTS_CUH_

// Products of tiles for kernels by phases. A block has squares of sums, of which each member has
// four by four in registers. Both factors come by way of shared memory in lines: line l has what
// one step of the sums needs, element l of each row.

#include <cstdint>
#include <type_traits>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/cuda/phases.cuh"

namespace firn::cuda {

inline constexpr int kEach = 4;        // rows and columns of a member
inline constexpr int kTileDepth = 32;  // lines of a factor at a time

// Members along each side of a block's square. Of doubles a quarter, so that there is room.
template <class Acc>
inline constexpr int kTileSide = sizeof(Acc) == 4 ? 16 : 8;
template <class Acc>
inline constexpr int kTileRows = kEach* kTileSide<Acc>;
template <class Acc>
inline constexpr int kTileThreads = kTileSide<Acc>* kTileSide<Acc>;

template <class Acc>
using Four = Elements<Acc, kEach>;
template <class Acc>
struct FourByFour {
  Four<Acc> row[kEach];
};

template <class Acc>
FIRN_HOST_DEVICE int RowGroup(int member) {
  return member / kTileSide<Acc>;
}
template <class Acc>
FIRN_HOST_DEVICE int ColumnGroup(int member) {
  return member % kTileSide<Acc>;
}

// Lines in shared memory, where fours change places from line to line so that neither those who
// write along a line nor those who write across lines meet in a bank.
template <class Acc, int kLines>
struct SharedLines {
  Four<Acc> v[kLines][kTileSide<Acc>];

  FIRN_HOST_DEVICE Four<Acc>& At(int line, int group) { return v[line][group ^ (line / 4 % 8)]; }
};

// Rows of a tensor, of a dtype that only the call knows, as `Acc`. From `offset` on there are `n`.
template <class Acc>
struct TileRows {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t row = 0, column = 0, offset = 0;
  int64_t n = 0;

  // Elements [first, first + 4) of a row, 0 from `width` on.
  FIRN_HOST_DEVICE Four<Acc> Load(int64_t r, int64_t first, int64_t width) const {
    if constexpr (std::is_same_v<Acc, double>) {
      return LoadAs<double>(r, first, width);
    } else {
      if (dtype == DType::kF16) return LoadAs<Half>(r, first, width);
      if (dtype == DType::kBF16) return LoadAs<BFloat16>(r, first, width);
      return LoadAs<float>(r, first, width);
    }
  }

 private:
  template <class T>
  FIRN_HOST_DEVICE Four<Acc> LoadAs(int64_t r, int64_t first, int64_t width) const {
    Four<Acc> x = {};
    if (r >= n) return x;
    const T* const from = static_cast<const T*>(data) + offset + r * row + first * column;
    if (column == 1 && first + kEach <= width &&
        reinterpret_cast<uintptr_t>(from) % alignof(Four<T>) == 0) {
      const Four<T> read = *reinterpret_cast<const Four<T>*>(from);
#pragma unroll
      for (int j = 0; j < kEach; ++j) x.v[j] = static_cast<Acc>(read.v[j]);
      return x;
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (first + j < width) x.v[j] = static_cast<Acc>(from[j * column]);
    }
    return x;
  }
};

// Writes x.v[0], ..., but no more than `n`, from element `at` on of a dense tensor.
template <class T, class Acc>
FIRN_HOST_DEVICE void StoreFourAs(void* to, int64_t at, int64_t n, const Four<Acc>& x) {
  T* const p = static_cast<T*>(to) + at;
  Four<T> y;
#pragma unroll
  for (int j = 0; j < kEach; ++j) y.v[j] = static_cast<T>(x.v[j]);
  if (n >= kEach && reinterpret_cast<uintptr_t>(p) % alignof(Four<T>) == 0) {
    *reinterpret_cast<Four<T>*>(p) = y;
    return;
  }
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    if (j < n) p[j] = y.v[j];
  }
}
template <class Acc>
FIRN_HOST_DEVICE void StoreFour(DType dtype, void* to, int64_t at, int64_t n, const Four<Acc>& x) {
  if constexpr (std::is_same_v<Acc, double>) {
    StoreFourAs<double>(to, at, n, x);
  } else {
    if (dtype == DType::kF16) return StoreFourAs<Half>(to, at, n, x);
    if (dtype == DType::kBF16) return StoreFourAs<BFloat16>(to, at, n, x);
    StoreFourAs<float>(to, at, n, x);
  }
}

// Lines are columns of `rows` from `first` on.
template <class Acc>
FIRN_HOST_DEVICE void LoadAcross(const TileRows<Acc>& rows, int64_t first, int64_t width,
                                 int member, SharedLines<Acc, kTileDepth>& to) {
  constexpr int kFours = kTileDepth / kEach;
  for (int i = member; i < kTileRows<Acc> * kFours; i += kTileThreads<Acc>) {
    const int row = i / kFours, line = i % kFours * kEach;
    if (first + line >= width) continue;
    const Four<Acc> x = rows.Load(row, first + line, width);
#pragma unroll
    for (int j = 0; j < kEach; ++j) to.At(line + j, row / kEach).v[row % kEach] = x.v[j];
  }
}
// Lines are rows from `line` on, columns from `first` on.
template <class Acc>
FIRN_HOST_DEVICE void LoadAlong(const TileRows<Acc>& rows, int line, int64_t first, int64_t width,
                                int member, SharedLines<Acc, kTileDepth>& to) {
  constexpr int kSide = kTileSide<Acc>;
  for (int i = member; i < kTileDepth * kSide; i += kTileThreads<Acc>) {
    to.At(i / kSide, i % kSide) = rows.Load(line + i / kSide, first + i % kSide * kEach, width);
  }
}

// sums += the products of `lines` lines, rounded up to whole fours, which are 0 beyond the last.
template <class Acc, int kLeft>
FIRN_HOST_DEVICE void AddProducts(SharedLines<Acc, kLeft>& left, int first,
                                  SharedLines<Acc, kTileDepth>& right, int64_t lines, int member,
                                  FourByFour<Acc>& sums) {
  const int row = RowGroup<Acc>(member), column = ColumnGroup<Acc>(member);
  for (int line = 0; line < lines; line += kEach) {
#pragma unroll
    for (int l = 0; l < kEach; ++l) {
      const Four<Acc> a = left.At(first + line + l, row), b = right.At(line + l, column);
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums.row[i].v[j] += a.v[i] * b.v[j];
      }
    }
  }
}

// own.*kTo = A B^T, of rows that are `width` wide.
template <auto kTo, class Acc, class Block>
FIRN_HOST_DEVICE void MultiplyRows(const Block& block, const TileRows<Acc>& a,
                                   const TileRows<Acc>& b, int64_t width) {
  block.Each([](int, auto& own, auto&) { own.*kTo = {}; });
  for (int64_t first = 0; first < width; first += kTileDepth) {
    block.All([&](int member, auto&, auto& shared) {
      LoadAcross(a, first, width, member, shared.left);
      LoadAcross(b, first, width, member, shared.right);
    });
    block.All([&](int member, auto& own, auto& shared) {
      if (RowGroup<Acc>(member) * kEach >= a.n || ColumnGroup<Acc>(member) * kEach >= b.n) return;
      const int64_t lines = width - first < kTileDepth ? width - first : kTileDepth;
      AddProducts(shared.left, 0, shared.right, lines, member, own.*kTo);
    });
  }
}

// own.*kTo += W B, of the weights in shared memory, of which each line is for a row of B, and B's
// columns from `first` on: as many squares as there are sums.
template <auto kTo, int kSquares, class Acc, class Block>
FIRN_HOST_DEVICE void MultiplyWeights(const Block& block, const TileRows<Acc>& b, int64_t first,
                                      int64_t width) {
#pragma unroll
  for (int square = 0; square < kSquares; ++square) {
    const int64_t column = first + square * kTileRows<Acc>;
    if (column >= width) continue;
    for (int line = 0; line < kTileRows<Acc> && line < b.n; line += kTileDepth) {
      block.All([&](int member, auto&, auto& shared) {
        LoadAlong(b, line, column, width, member, shared.right);
      });
      block.All([&](int member, auto& own, auto& shared) {
        if (column + ColumnGroup<Acc>(member) * kEach >= width) return;
        const int64_t lines = b.n - line < kTileDepth ? b.n - line : kTileDepth;
        AddProducts(shared.weights, line, shared.right, lines, member, (own.*kTo)[square]);
      });
    }
  }
}

template <class Acc>
struct TileShared {
  SharedLines<Acc, kTileDepth> left, right;
  SharedLines<Acc, kTileRows<Acc>> weights;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_TILE_PRODUCTS_CUH_
