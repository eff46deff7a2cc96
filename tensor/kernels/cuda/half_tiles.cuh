#ifndef FIRN_TENSOR_KERNELS_CUDA_HALF_TILES_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_HALF_TILES_CUH_

// Tiles of half types, which tensor cores multiply and add up in float. A warp has 32 rows by 16
// columns of a square, as two by two of mma's sixteen by eight. Which row, column or step of the
// sum an operand of mma stands for is free, as long as both sides agree. Here a thread's results
// are four neighbouring rows by four columns, and for a step it reads four neighbouring elements of
// a row. Weights, which are floats, are cut into two parts, of which the second is the rounding
// error of the first.

#include <cstdint>
#include <type_traits>

#include "firn/tensor/kernels/cuda/mma.cuh"
#include "firn/tensor/kernels/cuda/tile_products.cuh"

namespace firn::cuda {

// Rows in shared memory are some words longer, so that neighbours lie in different banks.
template <int kRows, int kDepth>
struct SharedRows {
  Four<uint16_t> v[kRows][kDepth / kEach + 1];

  // The elements of a row from 4 * group on.
  FIRN_HOST_DEVICE Four<uint16_t>& At(int row, int group) { return v[row][group]; }
};

// For Half or BFloat16.
template <class T>
struct HalfTiles {
  using Acc = float;
  static constexpr int kSide = 16, kRows = kEach * kSide, kThreads = kSide * kSide;
  static constexpr int kDepth = 64, kFours = kDepth / kEach;
  static constexpr int kAcross = 4;  // warps that share rows
  // The factor of weights, which are at most 1, so that small ones are not subnormal in f16.
  static constexpr float kOfWeights = std::is_same_v<T, Half> ? 0x1p15f : 1.0f;
  static_assert(kDepth == kRows, "AddProducts takes weights from the first line on");
  using Lines = SharedRows<kRows, kDepth>;
  struct Shared {
    Lines left, right, weights[2];
    Four<float> of_rows[kAcross][kSide];
  };
  using Factors = MmaFactors;

  FIRN_HOST_DEVICE static int RowGroup(int member) {
    return member / kMmaLanes / kAcross * 8 + member % kMmaLanes / 4;
  }
  FIRN_HOST_DEVICE static int ColumnGroup(int member) {
    return member / kMmaLanes % kAcross * 4 + member % 4;
  }

  FIRN_HOST_DEVICE static void LoadRows(const TileRows<float>& rows, int64_t first, int64_t width,
                                        int member, Lines& to) {
    for (int i = member; i < kRows * kFours; i += kThreads) {
      const int row = i / kFours, group = i % kFours;
      to.At(row, group) = rows.LoadWords(row, first + group * kEach, width);
    }
  }
  FIRN_HOST_DEVICE static void LoadColumns(const TileRows<float>& rows, int line, int64_t first,
                                           int64_t width, int member, Lines& to) {
    const int column = member % kSide * kEach, group = member / kSide;
    Four<uint16_t> x[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      x[j] = rows.LoadWords(line + group * kEach + j, first + column, width);
    }
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      to.At(column + c, group) = {{x[0].v[c], x[1].v[c], x[2].v[c], x[3].v[c]}};
    }
  }
  FIRN_HOST_DEVICE static void SetWeights(int member, const FourByFour<float>& x, Shared& shared) {
    const int column = ColumnGroup(member);
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int row = RowGroup(member) * kEach + r;
      Four<uint16_t> parts[2];
#pragma unroll
      for (int c = 0; c < kEach; ++c) {
        const float weight = x.row[r].v[c] * kOfWeights;
        const T first = Rounded(weight);
        parts[0].v[c] = first.bits;
        parts[1].v[c] = static_cast<T>(weight - static_cast<float>(first)).bits;
      }
      shared.weights[0].At(row, column) = parts[0];
      shared.weights[1].At(row, column) = parts[1];
    }
  }
  // Lines up to a multiple of sixteen exist.
  template <bool kWeights, class Block, class To>
  FIRN_HOST_DEVICE static void AddProducts(const Block& block, int, int64_t lines, const To& to) {
    for (int line = 0; line < lines; line += kMmaDepth) {
#pragma unroll
      for (int part = 0; part < (kWeights ? 2 : 1); ++part) {
        block.Each([&](int member, auto& own, auto& shared) {
          const int group = line / kEach + member % 4;
          LoadLeft(kWeights ? shared.weights[part] : shared.left, member, group, own.factors);
          if (part == 0) LoadRight(shared.right, member, group, own.factors);
        });
        MultiplyMatrices<T>(block, to);
      }
    }
  }
  template <auto kValue, class Block, class Op>
  FIRN_HOST_DEVICE static void CombineRows(const Block& block, const Op& op) {
    block.template Combine<4, kValue>(op);
    block.All([](int member, auto& own, auto& shared) {
      if (member % 4 != 0) return;
      shared.of_rows[member / kMmaLanes % kAcross][RowGroup(member)] = own.*kValue;
    });
    block.All([&](int member, auto& own, auto& shared) {
      Four<float> all = shared.of_rows[0][RowGroup(member)];
#pragma unroll
      for (int w = 1; w < kAcross; ++w) all = op(all, shared.of_rows[w][RowGroup(member)]);
      own.*kValue = all;
    });
  }

 private:
  // Rows 2 m and 2 m + 1 of a thread's four are rows i and i + 8 of matrix m.
  FIRN_HOST_DEVICE static void LoadLeft(Lines& from, int member, int group, MmaFactors& to) {
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const Four<uint16_t> x = from.At(RowGroup(member) * kEach + r, group);
      to.a[r / 2][r % 2] = Pair(x.v[0], x.v[1]);
      to.a[r / 2][r % 2 + 2] = Pair(x.v[2], x.v[3]);
    }
  }
  // Column j of matrix n, of which threads have two neighbours.
  FIRN_HOST_DEVICE static void LoadRight(Lines& from, int member, int group, MmaFactors& to) {
    const int j = member % kMmaLanes / 4, first = member / kMmaLanes % kAcross * 16;
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const Four<uint16_t> x = from.At(first + j / 2 * 4 + n * 2 + j % 2, group);
      to.b[n][0] = Pair(x.v[0], x.v[1]);
      to.b[n][1] = Pair(x.v[2], x.v[3]);
    }
  }
  FIRN_HOST_DEVICE static uint32_t Pair(uint16_t low, uint16_t high) {
    return low | static_cast<uint32_t>(high) << 16;
  }
  // g++ would drop a conversion of a float to _Float16 and back.
  FIRN_HOST_DEVICE static T Rounded(float x) {
    uint32_t bits = static_cast<T>(x).bits;
    asm("" : "+r"(bits));
    T rounded;
    rounded.bits = static_cast<uint16_t>(bits);
    return rounded;
  }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_HALF_TILES_CUH_
