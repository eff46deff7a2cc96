#ifndef FIRN_TENSOR_KERNELS_CUDA_TILE_PRODUCTS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_TILE_PRODUCTS_CUH_

// Products of tiles for kernels by phases. A block has squares of sums, of which each member has
// four by four in registers, of neighbouring rows and columns. Both factors go through shared
// memory. A kind of tiles decides how they lie there, which sums a member has, and who multiplies:
// PlainTiles, or HalfTiles (half_tiles.cuh) for tensor cores.

#include <cstdint>
#include <type_traits>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/cuda/phases.cuh"

namespace firn::cuda {

inline constexpr int kEach = 4;  // rows and columns of a member

template <class Acc>
using Four = Elements<Acc, kEach>;
template <class Acc>
struct FourByFour {
  Four<Acc> row[kEach];
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
  // The same for a half type, as its words.
  FIRN_HOST_DEVICE Four<uint16_t> LoadWords(int64_t r, int64_t first, int64_t width) const {
    return TileRows<uint16_t>{data, dtype, row, column, offset, n}.template LoadAs<uint16_t>(
        r, first, width);
  }

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

// --- Tiles that are multiplied by every thread for itself
// -----------------------------------------

// Lines in shared memory: line l has element l of each row of a factor, in fours whose order
// changes from line to line, so that neither writes along a line nor writes across lines meet in a
// bank.
template <class T, int kLines, int kFours>
struct SharedLines {
  Four<T> v[kLines][kFours];

  FIRN_HOST_DEVICE Four<T>& At(int line, int group) { return v[line][group ^ (line / 4 % 8)]; }
};

// For float or double. For doubles a quarter, so that it fits.
template <class T>
struct PlainTiles {
  using Acc = T;
  static constexpr int kSide = sizeof(T) == 4 ? 16 : 8;  // members along each side of a square
  static constexpr int kRows = kEach * kSide, kThreads = kSide * kSide;
  static constexpr int kDepth = 32;  // lines of a factor at a time
  static constexpr T kOfWeights = 1;
  using Lines = SharedLines<T, kDepth, kSide>;
  struct Shared {
    Lines left, right;
    SharedLines<T, kRows, kSide> weights;
  };
  struct Factors {};

  FIRN_HOST_DEVICE static int RowGroup(int member) { return member / kSide; }
  FIRN_HOST_DEVICE static int ColumnGroup(int member) { return member % kSide; }

  // Loads rows of a factor; lines are its columns from `first` on.
  FIRN_HOST_DEVICE static void LoadRows(const TileRows<T>& rows, int64_t first, int64_t width,
                                        int member, Lines& to) {
    constexpr int kFours = kDepth / kEach;
    for (int i = member; i < kRows * kFours; i += kThreads) {
      const int row = i / kFours, line = i % kFours * kEach;
      if (first + line >= width) continue;
      const Four<T> x = rows.Load(row, first + line, width);
#pragma unroll
      for (int j = 0; j < kEach; ++j) to.At(line + j, row / kEach).v[row % kEach] = x.v[j];
    }
  }
  // Loads columns of a factor from `first` on; lines are its rows from `line` on.
  FIRN_HOST_DEVICE static void LoadColumns(const TileRows<T>& rows, int line, int64_t first,
                                           int64_t width, int member, Lines& to) {
    for (int i = member; i < kDepth * kSide; i += kThreads) {
      to.At(i / kSide, i % kSide) = rows.Load(line + i / kSide, first + i % kSide * kEach, width);
    }
  }
  // A member's weights: each of its columns becomes a line.
  FIRN_HOST_DEVICE static void SetWeights(int member, const FourByFour<T>& x, Shared& shared) {
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      shared.weights.At(ColumnGroup(member) * kEach + c, RowGroup(member)) = {
          {x.row[0].v[c], x.row[1].v[c], x.row[2].v[c], x.row[3].v[c]}};
    }
  }
  // to(own) += the products of `lines` lines of shared.left, or from `first` on of shared.weights,
  // and shared.right. Lines up to a multiple of four exist.
  template <bool kWeights, class Block, class To>
  FIRN_HOST_DEVICE static void AddProducts(const Block& block, int first, int64_t lines,
                                           const To& to) {
    block.Each([&](int member, auto& own, auto& shared) {
      const int row = RowGroup(member), column = ColumnGroup(member);
      FourByFour<T>& sums = to(own);
      for (int line = 0; line < lines; line += kEach) {
#pragma unroll
        for (int l = 0; l < kEach; ++l) {
          Four<T> a;
          if constexpr (kWeights) {
            a = shared.weights.At(first + line + l, row);
          } else {
            a = shared.left.At(line + l, row);
          }
          const Four<T> b = shared.right.At(line + l, column);
#pragma unroll
          for (int i = 0; i < kEach; ++i) {
#pragma unroll
            for (int j = 0; j < kEach; ++j) sums.row[i].v[j] += a.v[i] * b.v[j];
          }
        }
      }
    });
  }
  // own.*kValue becomes op over the values of all members that share its rows.
  template <auto kValue, class Block, class Op>
  FIRN_HOST_DEVICE static void CombineRows(const Block& block, const Op& op) {
    block.template Combine<kSide, kValue>(op);
  }
};

// --- Products for all kinds of tiles
// --------------------------------------------------------------

// own.*kTo = A B^T, of rows that are `width` wide.
template <class Tiles, auto kTo, class Block>
FIRN_HOST_DEVICE void MultiplyRows(const Block& block, const TileRows<typename Tiles::Acc>& a,
                                   const TileRows<typename Tiles::Acc>& b, int64_t width) {
  block.Each([](int, auto& own, auto&) { own.*kTo = {}; });
  for (int64_t first = 0; first < width; first += Tiles::kDepth) {
    block.All([&](int member, auto&, auto& shared) {
      Tiles::LoadRows(a, first, width, member, shared.left);
      Tiles::LoadRows(b, first, width, member, shared.right);
    });
    const int64_t lines = width - first < Tiles::kDepth ? width - first : Tiles::kDepth;
    Tiles::template AddProducts<false>(
        block, 0, lines, [](auto& own) -> auto& { return own.*kTo; });
    block.Sync();
  }
}

// (own.*kTo)[square] += W B, for the weights in shared memory, where each line belongs to a row of
// B, and B's columns from `first` on.
template <class Tiles, auto kTo, int kSquares, class Block>
FIRN_HOST_DEVICE void MultiplyWeights(const Block& block, const TileRows<typename Tiles::Acc>& b,
                                      int64_t first, int64_t width) {
#pragma unroll
  for (int square = 0; square < kSquares; ++square) {
    const int64_t column = first + square * Tiles::kRows;
    if (column >= width) continue;
    for (int line = 0; line < Tiles::kRows && line < b.n; line += Tiles::kDepth) {
      block.All([&](int member, auto&, auto& shared) {
        Tiles::LoadColumns(b, line, column, width, member, shared.right);
      });
      const int64_t lines = b.n - line < Tiles::kDepth ? b.n - line : Tiles::kDepth;
      Tiles::template AddProducts<true>(
          block, line, lines, [&](auto& own) -> auto& { return (own.*kTo)[square]; });
      block.Sync();
    }
  }
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_TILE_PRODUCTS_CUH_
