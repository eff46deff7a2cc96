#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_PRODUCT_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_PRODUCT_H_

// C += A B with the B of a recurrent layer: a few rows of A at every step of time, B always the
// same. B is packed once, in panels of a few registers of columns, and read from there at each
// step. The layer chooses the columns of a panel: the gates of the same units, so that a thread
// that has a panel has all gates of its units.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/kernels/cpu/recurrent_tiles.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

// B has `groups` groups of `units` columns each and `depth` rows; its element (k, group, unit) lies
// at k * row + (group * units + unit) * column. One of `row` and `column` is 1.
struct PanelShape {
  int64_t groups, units, depth, row, column;
  // Numbers of B are bfloat16 in f32, and are multiplied by AMX. Numbers of A are split into so
  // many parts: one if they are bfloat16, too; three for results in f32, which keep all of its
  // digits; two for results in bfloat16, which leave 2^-18 of a number. Requires RecurrentTiles().
  bool tiles = false;
  int parts = 3;
};

template <class T>
class Panels {
  static constexpr int64_t kLanes = kSimdLanes<T>;
  static constexpr int kMaxVectors = 4;
  // Rows of a tile: with four vectors of sums each, the four of B and one element of A, registers
  // of the processor, 32 or 16, are full.
  static constexpr int kRows = kSimdBytes == 64 ? 6 : 2;

 public:
  // `to` holds Size(shape) elements, aligned to a register.
  Panels(const PanelShape& shape, T* to) : shape_(shape), data_(to) {}

  // Whether it is multiplied by tiles: it must be worth filling these up with zeros.
  static bool ByTiles(const PanelShape& s) { return s.tiles && s.depth >= 16; }
  static int64_t Size(const PanelShape& s) {
    const int64_t vectors = Count(s) * Vectors(s);
    return ByTiles(s) ? vectors * TileColumnSize(s.depth) / 2 : vectors * kLanes * s.depth;
  }
  // A panel has a vector of every group, or, of a single one, four vectors side by side.
  static int Vectors(const PanelShape& s) {
    return s.groups == 1 ? kMaxVectors : static_cast<int>(s.groups);
  }
  static int64_t UnitsOfPanel(const PanelShape& s) {
    return s.groups == 1 ? kMaxVectors * kLanes : kLanes;
  }
  static int64_t Count(const PanelShape& s) {
    return (s.units + UnitsOfPanel(s) - 1) / UnitsOfPanel(s);
  }
  int64_t count() const { return Count(shape_); }
  int64_t size() const { return Size(shape_); }
  // The first unit of a panel; of `count()` the number of units.
  int64_t UnitBegin(int64_t panel) const {
    return std::min(shape_.units, panel * UnitsOfPanel(shape_));
  }

  // Copies a panel, with zeros where there are no units.
  void Pack(const T* b, int64_t panel) {
    const int vectors = Vectors(shape_);
    T* const to = data_ + panel * vectors * kLanes * shape_.depth;
    for (int v = 0; v < vectors; ++v) {
      const int64_t unit = FirstUnit(panel, v);
      const int64_t lanes = std::clamp<int64_t>(shape_.units - unit, 0, kLanes);
      const int64_t group = shape_.groups == 1 ? 0 : v;
      const T* const from = b + (group * shape_.units + unit) * shape_.column;
      if constexpr (std::is_same_v<T, float>) {
        if (ByTiles(shape_)) {
          PackTiles(from, shape_.row, shape_.column, lanes, shape_.depth,
                    TileColumn(panel * vectors + v));
          continue;
        }
      }
      T* const lines = to + v * kLanes;
      const int64_t step = vectors * kLanes;
      if (shape_.row == 1) {
        inner::internal::CopyTransposed(lanes, shape_.depth, sizeof(T), from, shape_.column, lines,
                                        step);
      }
      for (int64_t k = 0; k < shape_.depth; ++k) {
        T* const line = lines + k * step;
        if (shape_.row != 1) std::copy_n(from + k * shape_.row, lanes, line);
        std::fill(line + lanes, line + kLanes, T{0});
      }
    }
  }

  // B as a factor of PanelSums. Requires: float, ByTiles(shape), four groups.
  PanelFactor Times(const T* a, int64_t a_row) const {
    return {a, a_row, shape_.depth, TileColumn(0), shape_.parts == 1};
  }

  // C = A B or C += A B for `rows` rows and the columns of panels [first, last). Group g of C's
  // columns begins offsets[g] elements after c; null: group after group.
  void Multiply(int64_t first, int64_t last, int64_t rows, const T* a, int64_t a_row, T* c,
                int64_t c_row, bool accumulate, const int64_t* offsets = nullptr) const {
    MultiplyPanels(first, last, rows, a, a_row, accumulate ? c : nullptr, c_row, c, c_row, offsets);
  }
  // Each row of C = `bias` + that of A B.
  void MultiplyOnto(int64_t first, int64_t last, int64_t rows, const T* a, int64_t a_row,
                    const T* bias, T* c, int64_t c_row) const {
    MultiplyPanels(first, last, rows, a, a_row, bias, 0, c, c_row, nullptr);
  }

 private:
  struct Target {
    int64_t row, old_row;
    int64_t offset[kMaxVectors] = {}, lanes[kMaxVectors] = {};
  };
  using TileOf = void (*)(const T*, int64_t, const T*, int64_t, int64_t, const T*, T*,
                          const Target&);

  uint16_t* TileColumn(int64_t vector) const {
    return reinterpret_cast<uint16_t*>(data_) + vector * TileColumnSize(shape_.depth);
  }

  // C = old + A B, or C = A B if `old` is null.
  void MultiplyPanels(int64_t first, int64_t last, int64_t rows, const T* a, int64_t a_row,
                      const T* old, int64_t old_row, T* c, int64_t c_row,
                      const int64_t* offsets) const {
    if constexpr (std::is_same_v<T, float>) {
      if (ByTiles(shape_)) {
        const auto put = [&](int64_t vector, int64_t row, int64_t height, bool begins,
                             const float* sums) {
          const int vectors = Vectors(shape_), v = static_cast<int>(vector % vectors);
          const int64_t unit = FirstUnit(vector / vectors, v), group = shape_.groups == 1 ? 0 : v;
          const int64_t lanes = std::clamp<int64_t>(shape_.units - unit, 0, kLanes);
          const int64_t at = (offsets == nullptr ? group * shape_.units : offsets[group]) + unit;
          const T* const onto = begins ? old : c;
          const int64_t onto_row = begins ? old_row : c_row;
          for (int64_t i = 0; lanes > 0 && i < height; ++i) {
            Vec<T> sum;
            std::memcpy(&sum, sums + i * kSumsRow, sizeof(sum));
            Put(sum, lanes, onto == nullptr ? nullptr : onto + (row + i) * onto_row + at,
                c + (row + i) * c_row + at);
          }
        };
        const int vectors = Vectors(shape_);
        return MultiplyTileColumns(shape_.parts, a, a_row, rows, shape_.depth, TileColumn(0),
                                   first * vectors, last * vectors, put);
      }
    }
    for (int64_t p = first; p < last; ++p) {
      MultiplyPanel(p, rows, a, a_row, old, old_row, c, c_row, offsets);
    }
  }

  void MultiplyPanel(int64_t panel, int64_t rows, const T* a, int64_t a_row, const T* old,
                     int64_t old_row, T* c, int64_t c_row, const int64_t* offsets) const {
    const int vectors = Vectors(shape_);
    Target to{.row = c_row, .old_row = old_row};
    int used = 0;
    for (int v = 0; v < vectors; ++v) {
      const int64_t unit = FirstUnit(panel, v);
      const int64_t group = shape_.groups == 1 ? 0 : v;
      to.lanes[v] = std::clamp<int64_t>(shape_.units - unit, 0, kLanes);
      to.offset[v] = (offsets == nullptr ? group * shape_.units : offsets[group]) + unit;
      if (to.lanes[v] > 0) used = v + 1;
    }
    if (used == 0) return;
    const T* const b = data_ + panel * vectors * kLanes * shape_.depth;
    // Tiles of nearly the same height.
    const int64_t tiles = (rows + kRows - 1) / kRows;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t begin = rows * i / tiles, height = rows * (i + 1) / tiles - begin;
      const auto tile = static_cast<size_t>((height - 1) * kMaxVectors + used - 1);
      kTiles[tile](a + begin * a_row, a_row, b, vectors * kLanes, shape_.depth,
                   old == nullptr ? nullptr : old + begin * old_row, c + begin * c_row, to);
    }
  }

  int64_t FirstUnit(int64_t panel, int v) const {
    return panel * UnitsOfPanel(shape_) + (shape_.groups == 1 ? v * kLanes : 0);
  }

  static FIRN_ALWAYS_INLINE void Put(Vec<T> sum, int64_t lanes, const T* old, T* to) {
    if (lanes == kLanes) {
      if (old != nullptr) sum += inner::internal::LoadAll(old);
      return inner::internal::StoreAll<T>(sum, to);
    }
    if (old != nullptr) sum += inner::internal::LoadPart(old, lanes);
    inner::internal::StorePart<T>(sum, lanes, to);
  }

  // Every element is summed along the inner direction in order, whatever the tile's size: results
  // do not depend on how rows are shared out.
  template <int kHeight, int kWidth>
  static void Tile(const T* a, int64_t a_row, const T* b, int64_t b_row, int64_t depth,
                   const T* old, T* c, const Target& to) {
    // Unrolled, because otherwise the sums would not stay in registers.
    Vec<T> sums[kHeight][kWidth];
#pragma GCC unroll 8
    for (int i = 0; i < kHeight; ++i) {
#pragma GCC unroll 4
      for (int w = 0; w < kWidth; ++w) sums[i][w] = Vec<T>{};
    }
    for (int64_t k = 0; k < depth; ++k, b += b_row) {
      Vec<T> right[kWidth];
#pragma GCC unroll 4
      for (int w = 0; w < kWidth; ++w) std::memcpy(&right[w], b + w * kLanes, sizeof(right[w]));
#pragma GCC unroll 8
      for (int i = 0; i < kHeight; ++i) {
        const T left = a[i * a_row + k];
#pragma GCC unroll 4
        for (int w = 0; w < kWidth; ++w) sums[i][w] += left * right[w];
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kHeight; ++i) {
#pragma GCC unroll 4
      for (int w = 0; w < kWidth; ++w) {
        Put(sums[i][w], to.lanes[w], old == nullptr ? nullptr : old + i * to.old_row + to.offset[w],
            c + i * to.row + to.offset[w]);
      }
    }
  }

  // Indexed by (rows - 1) * kMaxVectors + (vectors - 1).
  static constexpr auto kTiles = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<TileOf, sizeof...(I)>{Tile<I / kMaxVectors + 1, I % kMaxVectors + 1>...};
  }
  (std::make_index_sequence<kRows * kMaxVectors>());

  PanelShape shape_;
  T* data_;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_PRODUCT_H_
