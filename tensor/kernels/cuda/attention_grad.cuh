#ifndef FIRN_TENSOR_KERNELS_CUDA_ATTENTION_GRAD_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ATTENTION_GRAD_CUH_

// The gradients of attention, which compute the weights again from the logarithms that the forward
// pass left. With weights W, which a dropout turns into Z W:
//
//   dW = Z (dy v^T)    dS = W (dW - sum(dy y))    dq = scale dS k    dk = scale dS^T q
//   dv = (Z W)^T dy
//
// Two launches: blocks of queries go along the keys, and blocks of keys along the queries. Both
// compute scores and dW, and nothing is added up by atomics, so that results are the same in every
// run. Columns beyond a block's sums are cut into pieces, each with a block of its own.

#include "firn/tensor/kernels/cuda/attention_scores.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/math.h"

namespace firn::cuda {

template <class Tiles>
struct TiledSlopes {
  using Acc = typename Tiles::Acc;

  TiledAttention<Tiles> a;
  const void *dy, *y;
  const Acc* logsumexp;
  AttentionStrides dy_at, y_at, logsumexp_at;
  Acc* dots;  // the sum of dy y of each query; the first launch writes them for the second

  FIRN_HOST_DEVICE TileRows<Acc> Slopes(int64_t b, int64_t h, int64_t i) const {
    return a.Rows(dy, dy_at, dy_at.At(b, h, i), a.p.queries - i);
  }
  FIRN_HOST_DEVICE TileRows<Acc> Results(int64_t b, int64_t h, int64_t i) const {
    return a.Rows(y, y_at, y_at.At(b, h, i), a.p.queries - i);
  }
  FIRN_HOST_DEVICE int64_t Query(int64_t b, int64_t h, int64_t i) const {
    return (b * a.p.heads + h) * a.p.queries + i;
  }
  FIRN_HOST_DEVICE Acc Logsumexp(int64_t b, int64_t h, int64_t i) const {
    return i < a.p.queries ? logsumexp[logsumexp_at.At(b, h, i)] : Acc{0};
  }

  // For query i and the keys from j on: turns products with keys into the weights as they were
  // applied, and products with values into the gradients of the scores.
  FIRN_HOST_DEVICE void Weigh(int64_t b, int64_t h, int64_t i, int64_t j, Acc log, Acc dot,
                              Four<Acc>& weights, Four<Acc>& slopes) const {
    a.MakeScores(b, h, i, j, weights);
    const Four<Acc> kept = a.Kept(b, h, i, j, a.kept);
#pragma unroll
    for (int l = 0; l < kEach; ++l) {
      const bool none = weights.v[l] == TiledAttention<Tiles>::kNone;
      const Acc weight = none ? Acc{0} : math::Exp(LogWeight(weights.v[l], log));
      slopes.v[l] = none ? Acc{0} : weight * (slopes.v[l] * kept.v[l] - dot);
      weights.v[l] = weight * kept.v[l];
    }
  }
};

// Writes four rows of four from row `first` on, as far as there are rows (`rows`) and columns.
template <class Acc>
FIRN_HOST_DEVICE void StoreSquare(DType dtype, void* to, int64_t at, int64_t step, int64_t rows,
                                  int64_t columns, Acc scale, const FourByFour<Acc>& x) {
  if (columns <= 0) return;
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    Four<Acc> v = x.row[r];
    for (Acc& one : v.v) one *= scale;
    if (r < rows) StoreFour(dtype, to, at + r * step, columns, v);
  }
}

// Index: (batch, head, tile of queries from the last on, piece of the columns).
template <class Tiles, int kSquares>
struct AttentionQueryGrad {
  static constexpr int kThreads = Tiles::kThreads, kRows = Tiles::kRows;
  static constexpr int kResident = sizeof(typename Tiles::Acc) == 4 ? 2 : 4;
  static constexpr int kColumns = kSquares * kRows;
  using Acc = typename Tiles::Acc;
  using Shared = typename Tiles::Shared;
  struct Own {
    FourByFour<Acc> scores, slopes, sums[kSquares];
    Four<Acc> logs, dots;
    typename Tiles::Factors factors;
  };

  TiledSlopes<Tiles> s;
  void* dq;

  int64_t count() const {
    return s.a.p.batch * s.a.p.heads * CeilDiv(s.a.p.queries, kRows) * Pieces();
  }
  // At least one, for the sums of dy y.
  FIRN_HOST_DEVICE int64_t Pieces() const {
    return s.a.p.width == 0 ? 1 : CeilDiv(s.a.p.width, kColumns);
  }

  template <class Block>
  FIRN_HOST_DEVICE void operator()(const Block& block, int64_t index) const {
    const AttentionProblem& p = s.a.p;
    int64_t b = index;
    const int64_t column = TakeDigit(b, Pieces()) * kColumns, tiles = CeilDiv(p.queries, kRows);
    const int64_t query = (tiles - 1 - TakeDigit(b, tiles)) * kRows, h = TakeDigit(b, p.heads);
    const TileRows<Acc> q = s.a.Queries(b, h, query), dy = s.Slopes(b, h, query);
    AddDots(block, b, h, query, column == 0);
    const int64_t end = p.Seen(query + q.n - 1);
    for (int64_t key = 0; key < end; key += kRows) {
      const TileRows<Acc> k = s.a.Keys(b, h, key);
      MultiplyRows<Tiles, &Own::scores>(block, q, k, p.width);
      MultiplyRows<Tiles, &Own::slopes>(block, dy, s.a.Values(b, h, key), p.value_width);
      block.All([&](int member, Own& own, Shared& shared) {
        const int row = Tiles::RowGroup(member), line = Tiles::ColumnGroup(member) * kEach;
        auto& d = own.slopes.row;
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
          s.Weigh(b, h, query + row * kEach + r, key + line, own.logs.v[r], own.dots.v[r],
                  own.scores.row[r], d[r]);
        }
        Tiles::SetWeights(member, own.slopes, shared);
      });
      MultiplyWeights<Tiles, &Own::sums, kSquares>(block, k, column, p.width);
    }
    block.Each([&](int member, Own& own, Shared&) {
      const AttentionStrides at = ByRows(p.heads, p.queries, p.width);
      const int64_t i = query + Tiles::RowGroup(member) * kEach;
      int64_t c = column + Tiles::ColumnGroup(member) * kEach;
#pragma unroll
      for (int square = 0; square < kSquares; ++square, c += kRows) {
        StoreSquare(s.a.dtype, dq, at.At(b, h, i) + c, at.row, p.queries - i, p.width - c,
                    static_cast<Acc>(p.scale), own.sums[square]);
      }
    });
  }

 private:
  // The numbers of a block's queries that it reads before it begins.
  template <class Block>
  FIRN_HOST_DEVICE void AddDots(const Block& block, int64_t b, int64_t h, int64_t query,
                                bool write) const {
    const int64_t width = s.a.p.value_width;
    const TileRows<Acc> dy = s.Slopes(b, h, query), y = s.Results(b, h, query);
    block.Each([&](int member, Own& own, Shared&) {
      for (auto& sum : own.sums) sum = {};
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        const int row = Tiles::RowGroup(member) * kEach + r;
        own.logs.v[r] = s.Logsumexp(b, h, query + row);
        own.dots.v[r] = 0;
        for (int64_t c = Tiles::ColumnGroup(member) * kEach; c < width; c += kRows) {
          const Four<Acc> left = dy.Load(row, c, width), right = y.Load(row, c, width);
          for (int l = 0; l < kEach; ++l) own.dots.v[r] += left.v[l] * right.v[l];
        }
      }
    });
    Tiles::template CombineRows<&Own::dots>(block, [](Four<Acc> x, const Four<Acc>& other) {
      for (int r = 0; r < kEach; ++r) x.v[r] += other.v[r];
      return x;
    });
    if (!write) return;
    block.Each([&](int member, Own& own, Shared&) {
      if (Tiles::ColumnGroup(member) != 0) return;
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        const int64_t i = query + Tiles::RowGroup(member) * kEach + r;
        if (i < s.a.p.queries) s.dots[s.Query(b, h, i)] = own.dots.v[r];
      }
    });
  }
};

// Index: (batch, head of keys, tile of keys, piece of the columns of both). Rows of the squares are
// keys, and columns of scores queries.
template <class Tiles, int kSquares>
struct AttentionKeyGrad {
  static constexpr int kThreads = Tiles::kThreads, kRows = Tiles::kRows;
  // With two squares a member's sums would not fit into registers.
  static constexpr int kResident = sizeof(typename Tiles::Acc) == 8 ? 4 : kSquares == 1 ? 2 : 1;
  static constexpr int kColumns = kSquares * kRows;
  using Acc = typename Tiles::Acc;
  using Shared = typename Tiles::Shared;
  struct Own {
    FourByFour<Acc> scores, slopes, keys[kSquares], values[kSquares];
    typename Tiles::Factors factors;
  };

  TiledSlopes<Tiles> s;
  void *dk, *dv;

  int64_t count() const {
    return s.a.p.batch * s.a.p.kv_heads * CeilDiv(s.a.p.keys, kRows) * Pieces();
  }
  FIRN_HOST_DEVICE int64_t Pieces() const {
    const int64_t width = s.a.p.width, values = s.a.p.value_width;
    return CeilDiv(width > values ? width : values, kColumns);
  }

  template <class Block>
  FIRN_HOST_DEVICE void operator()(const Block& block, int64_t index) const {
    const AttentionProblem& p = s.a.p;
    int64_t b = index;
    const int64_t column = TakeDigit(b, Pieces()) * kColumns;
    const int64_t key = TakeDigit(b, CeilDiv(p.keys, kRows)) * kRows;
    const int64_t kv_head = TakeDigit(b, p.kv_heads), group = p.group();
    block.Each([](int, Own& own, Shared&) {
      for (auto& sum : own.keys) sum = {};
      for (auto& sum : own.values) sum = {};
    });
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      for (int64_t query = p.causal ? key : 0; query < p.queries; query += kRows) {
        AddQueries(block, b, h, query, key, column);
      }
    }
    block.Each([&](int member, Own& own, Shared&) {
      const AttentionStrides k_at = ByRows(p.kv_heads, p.keys, p.width);
      const AttentionStrides v_at = ByRows(p.kv_heads, p.keys, p.value_width);
      const int64_t j = key + Tiles::RowGroup(member) * kEach;
      int64_t c = column + Tiles::ColumnGroup(member) * kEach;
#pragma unroll
      for (int square = 0; square < kSquares; ++square, c += kRows) {
        StoreSquare(s.a.dtype, dk, k_at.At(b, kv_head, j) + c, k_at.row, p.keys - j, p.width - c,
                    static_cast<Acc>(p.scale), own.keys[square]);
        StoreSquare(s.a.dtype, dv, v_at.At(b, kv_head, j) + c, v_at.row, p.keys - j,
                    p.value_width - c, Acc{1}, own.values[square]);
      }
    });
  }

 private:
  template <class Block>
  FIRN_HOST_DEVICE void AddQueries(const Block& block, int64_t b, int64_t h, int64_t query,
                                   int64_t key, int64_t column) const {
    const AttentionProblem& p = s.a.p;
    const TileRows<Acc> q = s.a.Queries(b, h, query), dy = s.Slopes(b, h, query);
    MultiplyRows<Tiles, &Own::scores>(block, s.a.Keys(b, h, key), q, p.width);
    MultiplyRows<Tiles, &Own::slopes>(block, s.a.Values(b, h, key), dy, p.value_width);
    block.All([&](int member, Own& own, Shared& shared) {
      const int row = Tiles::RowGroup(member), line = Tiles::ColumnGroup(member) * kEach;
#pragma unroll
      for (int c = 0; c < kEach; ++c) {
        auto &x = own.scores.row, &d = own.slopes.row;
        Four<Acc> weights = {{x[0].v[c], x[1].v[c], x[2].v[c], x[3].v[c]}};
        Four<Acc> slopes = {{d[0].v[c], d[1].v[c], d[2].v[c], d[3].v[c]}};
        const int64_t i = query + line + c;
        const Acc dot = i < p.queries ? s.dots[s.Query(b, h, i)] : Acc{0};
        s.Weigh(b, h, i, key + row * kEach, s.Logsumexp(b, h, i), dot, weights, slopes);
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
          x[r].v[c] = weights.v[r];
          d[r].v[c] = slopes.v[r];
        }
      }
      Tiles::SetWeights(member, own.scores, shared);
    });
    MultiplyWeights<Tiles, &Own::values, kSquares>(block, dy, column, p.value_width);
    block.All([&](int member, Own& own, Shared& shared) {
      Tiles::SetWeights(member, own.slopes, shared);
    });
    MultiplyWeights<Tiles, &Own::keys, kSquares>(block, q, column, p.width);
  }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ATTENTION_GRAD_CUH_
