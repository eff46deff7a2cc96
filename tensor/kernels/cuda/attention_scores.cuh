#ifndef FIRN_TENSOR_KERNELS_CUDA_ATTENTION_SCORES_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ATTENTION_SCORES_CUH_

// The inputs of both directions of attention, and the scores from the products of queries and keys.

#include <limits>

#include "firn/device/philox.h"
#include "firn/tensor/kernels/attention_problem.h"
#include "firn/tensor/kernels/cuda/tile_products.cuh"

namespace firn::cuda {

// The inputs of kernels of both directions.
template <class Tiles>
struct TiledAttention {
  using Acc = typename Tiles::Acc;
  static constexpr Acc kNone = -std::numeric_limits<Acc>::infinity();
  static constexpr int kRows = Tiles::kRows;

  AttentionProblem p;
  DType dtype;
  const void *q, *k, *v;
  const bool* seen = nullptr;         // the mask, if it is boolean
  const void* added = nullptr;        // or of `dtype`
  const int64_t* position = nullptr;  // only with a dropout
  int64_t position_step = 1;
  uint32_t first_kept = 0;  // of random words
  Acc kept = 1;             // the factor of the remaining weights

  // For head h: a tile of its queries, or of its keys or values.
  FIRN_HOST_DEVICE TileRows<Acc> Queries(int64_t b, int64_t h, int64_t i) const {
    return Rows(q, p.q, p.q.At(b, h, i), p.queries - i);
  }
  FIRN_HOST_DEVICE TileRows<Acc> Keys(int64_t b, int64_t h, int64_t j) const {
    return Rows(k, p.k, p.k.At(b, h / p.group(), j), p.keys - j);
  }
  FIRN_HOST_DEVICE TileRows<Acc> Values(int64_t b, int64_t h, int64_t j) const {
    return Rows(v, p.v, p.v.At(b, h / p.group(), j), p.keys - j);
  }
  FIRN_HOST_DEVICE TileRows<Acc> Rows(const void* data, const AttentionStrides& at, int64_t offset,
                                      int64_t n) const {
    return {data, dtype, at.row, at.column, offset, n < kRows ? n : kRows};
  }

  // Turns products of query i and the keys from j on into scores: scaled and masked.
  FIRN_HOST_DEVICE void MakeScores(int64_t b, int64_t h, int64_t i, int64_t j, Four<Acc>& x) const {
    const int64_t end = i < p.queries ? p.Seen(i) : 0, mask = p.mask.At(b, h, i);
    TileRows<Acc> of_mask = {added, dtype, 0, p.mask.column, mask, 1};
    Four<Acc> add = {};
    if (added != nullptr && j < end) add = of_mask.Load(0, j, end);
#pragma unroll
    for (int l = 0; l < kEach; ++l) {
      const bool hidden =
          j + l >= end || (seen != nullptr && !seen[mask + (j + l) * p.mask.column]);
      x.v[l] = hidden ? kNone : x.v[l] * static_cast<Acc>(p.scale) + add.v[l];
    }
  }
  // The factors that a dropout gives the weights of query i from key j on: 0, or `scale` where they
  // remain; 1 without a dropout.
  FIRN_HOST_DEVICE Four<Acc> Kept(int64_t b, int64_t h, int64_t i, int64_t j, Acc scale) const {
    Four<Acc> factors = {{1, 1, 1, 1}};
    if (position == nullptr) return factors;
    if (p.dropout >= 1) return {};
    const PhiloxState from{static_cast<uint64_t>(position[0]),
                           static_cast<uint64_t>(position[position_step])};
    const int64_t e = p.Weight(b, h, i) + j;
    PhiloxResult words = PhiloxAt(from, static_cast<uint64_t>(e / 4));
#pragma unroll
    for (int l = 0; l < kEach; ++l) {
      if (l > 0 && (e + l) % 4 == 0) words = PhiloxAt(from, static_cast<uint64_t>((e + l) / 4));
      factors.v[l] = words.v[(e + l) % 4] >= first_kept ? scale : Acc{0};
    }
    return factors;
  }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ATTENTION_SCORES_CUH_
