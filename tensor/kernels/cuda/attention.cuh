#ifndef FIRN_TENSOR_KERNELS_CUDA_ATTENTION_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ATTENTION_CUH_

// softmax(scale q k^T + mask) v without storing the weights: T. Dao, "FlashAttention-2: Faster
// Attention with Better Parallelism and Work Partitioning", 2023. A block has a tile of queries and
// goes along the keys. For each query it keeps the largest score so far, the sum of exponentials
// and the weighted sum of values; where a larger score comes, both sums are scaled down. Values
// wider than a block's sums are cut into pieces, each with a block of its own, which computes the
// scores again.

#include "firn/tensor/kernels/cuda/attention_scores.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/math.h"

namespace firn::cuda {

// Index: (batch, head, tile of queries from the last on, piece of the columns). The last are first
// since under a causal mask they take longest.
template <class Tiles, int kSquares>
struct AttentionForward {
  static constexpr int kThreads = Tiles::kThreads, kRows = Tiles::kRows;
  static constexpr int kResident = sizeof(typename Tiles::Acc) == 4 ? 2 : 4;
  static constexpr int kColumns = kSquares * kRows;
  using Acc = typename Tiles::Acc;
  using Shared = typename Tiles::Shared;
  // The columns of `sums` are those of values, the columns of `scores` are keys. `total`: the sum
  // over a member's own scores.
  struct Own {
    FourByFour<Acc> scores, sums[kSquares];
    Four<Acc> top, total, some;
    typename Tiles::Factors factors;
  };

  TiledAttention<Tiles> a;
  void* y;
  Acc* logsumexp;

  int64_t count() const { return a.p.batch * a.p.heads * CeilDiv(a.p.queries, kRows) * Pieces(); }
  FIRN_HOST_DEVICE int64_t Pieces() const {
    return a.p.value_width == 0 ? 1 : CeilDiv(a.p.value_width, kColumns);
  }

  template <class Block>
  FIRN_HOST_DEVICE void operator()(const Block& block, int64_t index) const {
    const AttentionProblem& p = a.p;
    int64_t b = index;
    const int64_t column = TakeDigit(b, Pieces()) * kColumns, tiles = CeilDiv(p.queries, kRows);
    const int64_t query = (tiles - 1 - TakeDigit(b, tiles)) * kRows, h = TakeDigit(b, p.heads);
    const TileRows<Acc> q = a.Queries(b, h, query);
    block.Each([&](int, Own& own, Shared&) {
      for (auto& s : own.sums) s = {};
      own.total = {};
      for (Acc& top : own.top.v) top = TiledAttention<Tiles>::kNone;
    });
    const int64_t end = p.Seen(query + q.n - 1);
    for (int64_t key = 0; key < end; key += kRows) {
      MultiplyRows<Tiles, &Own::scores>(block, q, a.Keys(b, h, key), p.width);
      Weigh(block, b, h, query, key);
      MultiplyWeights<Tiles, &Own::sums, kSquares>(block, a.Values(b, h, key), column,
                                                   p.value_width);
    }
    Tiles::template CombineRows<&Own::total>(block, [](Four<Acc> x, const Four<Acc>& other) {
      for (int r = 0; r < kEach; ++r) x.v[r] += other.v[r];
      return x;
    });
    block.Each([&](int member, Own& own, Shared&) { Store(b, h, query, column, member, own); });
  }

 private:
  // Turns scores into weights that are not yet divided by their sum.
  template <class Block>
  FIRN_HOST_DEVICE void Weigh(const Block& block, int64_t b, int64_t h, int64_t query,
                              int64_t key) const {
    block.Each([&](int member, Own& own, Shared&) {
      const int64_t i = query + Tiles::RowGroup(member) * kEach;
      const int64_t j = key + Tiles::ColumnGroup(member) * kEach;
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        a.MakeScores(b, h, i + r, j, own.scores.row[r]);
        own.some.v[r] = own.top.v[r];
        for (const Acc s : own.scores.row[r].v) own.some.v[r] = Larger(s, own.some.v[r]);
      }
    });
    Tiles::template CombineRows<&Own::some>(block, [](Four<Acc> x, const Four<Acc>& other) {
      for (int r = 0; r < kEach; ++r) x.v[r] = Larger(x.v[r], other.v[r]);
      return x;
    });
    block.All([&](int member, Own& own, Shared& shared) {
      const int64_t i = query + Tiles::RowGroup(member) * kEach;
      const int64_t j = key + Tiles::ColumnGroup(member) * kEach;
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        const Acc top = own.some.v[r];
        // No score at all: weights of 0.
        const Acc shift = top == TiledAttention<Tiles>::kNone ? Acc{0} : top;
        const Acc before = math::Exp(own.top.v[r] - shift);
        own.top.v[r] = top;
        own.total.v[r] *= before;
        for (auto& s : own.sums) {
          for (Acc& x : s.row[r].v) x *= before;
        }
        const Four<Acc> kept = a.Kept(b, h, i + r, j, 1);
#pragma unroll
        for (int c = 0; c < kEach; ++c) {
          Acc& x = own.scores.row[r].v[c];
          x = math::Exp(x - shift);
          own.total.v[r] += x;
          x *= kept.v[c];
        }
      }
      Tiles::SetWeights(member, own.scores, shared);
    });
  }
  FIRN_HOST_DEVICE void Store(int64_t b, int64_t h, int64_t query, int64_t column, int member,
                              const Own& own) const {
    const AttentionProblem& p = a.p;
    const AttentionStrides at = ByRows(p.heads, p.queries, p.value_width);
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int64_t i = query + Tiles::RowGroup(member) * kEach + r;
      if (i >= p.queries) continue;
      const Acc of_sum =
          own.total.v[r] == 0 ? Acc{0} : a.kept / (own.total.v[r] * Tiles::kOfWeights);
      int64_t c = column + Tiles::ColumnGroup(member) * kEach;
#pragma unroll
      for (int square = 0; square < kSquares; ++square, c += kRows) {
        Four<Acc> x = own.sums[square].row[r];
        for (Acc& v : x.v) v *= of_sum;
        if (c < p.value_width) StoreFour(a.dtype, y, at.At(b, h, i) + c, p.value_width - c, x);
      }
      if (column == 0 && Tiles::ColumnGroup(member) == 0) {
        logsumexp[(b * p.heads + h) * p.queries + i] = own.top.v[r] + math::Log(own.total.v[r]);
      }
    }
  }
  FIRN_HOST_DEVICE static Acc Larger(Acc x, Acc y) { return x > y ? x : y; }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ATTENTION_CUH_
