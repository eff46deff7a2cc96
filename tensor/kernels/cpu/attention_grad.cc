// Attention backward: a slot has heads of keys and values, whose keys go by tiles along the
// queries. With the weights P = exp(scores - logsumexp), which are computed again, and Z, which is
// 0 for dropped weights and a scale for kept ones,
//   dv = (P Z)^T dy    dP = Z (dy v^T)    dS = P (dP - D)    dq = scale dS k    dk = scale dS^T q
// where D = sum(P dP) is sum(dy y) for each query.

#include "firn/tensor/kernels/cpu/attention.h"
#include "firn/tensor/kernels/cpu/attention_tiles.h"
#include "firn/tensor/kernels/math.h"

namespace firn::cpu {
namespace {

template <class Acc>
struct GradProblem {
  const AttentionProblem& p;
  const AttentionInputs<Acc>& in;
  const AttentionResults<Acc>& of;
  const AttentionGradients<Acc>& out;
};

// The packed queries of a head and their numbers.
template <class Acc>
struct QuerySide {
  Panels<Acc> q, dy, dq;
  Acc *shift, *dot;  // logsumexp, and D
};

template <class Acc>
struct Scratch {
  Scratch(const AttentionProblem& p, void* base) : from(base) {
    const int64_t rows = RoundUp(p.queries, kTileRows), group = p.group();
    side.q = from.TakePanels<Acc>(rows * group, p.width);
    side.dy = from.TakePanels<Acc>(rows * group, p.value_width);
    side.dq = from.TakePanels<Acc>(rows * group, p.width);
    side.shift = from.Take<Acc>(rows * group);
    side.dot = from.Take<Acc>(rows * group);
    k_columns = from.TakePanels<Acc>(p.width, kTileKeys);
    v_columns = from.TakePanels<Acc>(p.value_width, kTileKeys);
    k = from.TakePanels<Acc>(kTileKeys, p.width);
    dk = from.TakePanels<Acc>(kTileKeys, p.width);
    dv = from.TakePanels<Acc>(kTileKeys, p.value_width);
    weights = from.TakePanels<Acc>(kTileQueries, kTileKeys);
    dscores = from.TakePanels<Acc>(kTileQueries, kTileKeys);
  }
  // The rows of a head of the group.
  QuerySide<Acc> Side(const AttentionProblem& p, int64_t member) const {
    const int64_t rows = RoundUp(p.queries, kTileRows), first = member * rows;
    const auto part = [&](const Panels<Acc>& of) { return Panels<Acc>{of.At(first, 0), of.rows}; };
    return {part(side.q), part(side.dy), part(side.dq), side.shift + first, side.dot + first};
  }

  AttentionScratch from;
  QuerySide<Acc> side;
  Panels<Acc> k_columns, v_columns, k, dk, dv, weights, dscores;
};

template <class Acc>
void Zero(const Panels<Acc>& m, int64_t columns) {
  std::fill_n(m.data, PanelsSize<Acc>(m.rows, columns), Acc{0});
}

// Rows of `of` from a matrix, and zeros up to whole tiles.
template <class Acc>
void PackRows(const MatrixIn<Acc>& m, int64_t rows, int64_t columns, const Panels<Acc>& of) {
  constexpr int64_t kWidth = kPanel<Acc>;
  const int64_t padded = RoundUp(rows, kTileRows);
  for (int64_t j = 0, panel = 0; j < columns; j += kWidth, ++panel) {
    const MatrixIn<Acc> some{m.from, m.offset + j * m.column, m.row, m.column};
    Pack(some, rows, std::min(kWidth, columns - j), Panels<Acc>{of.At(0, panel), padded});
  }
}

// The sum of dy y of a query, whose dy is a row of `dy`.
template <class Acc>
Acc DotWithResult(const GradProblem<Acc>& g, int64_t at, int64_t i, const Panels<Acc>& dy) {
  constexpr int64_t kWidth = kPanel<Acc>;
  const int64_t columns = g.p.value_width, step = g.of.y_at.column;
  alignas(64) Acc lanes[kWidth] = {}, tile[kWidth];
  for (int64_t first = 0, panel = 0; first < columns; first += kWidth, ++panel) {
    const int64_t n = std::min(kWidth, columns - first);
    const Acc* y = tile;
    if (step == 1) {
      y = g.of.y.At(at + first, n, tile);
    } else {
      g.of.y.Load(at + first * step, {n, 1, step, 1}, tile);
    }
    const Acc* const row = dy.At(i, panel);
    for (int64_t l = 0; l < n; ++l) lanes[l] += row[l] * y[l];
  }
  Acc sum = 0;
  for (const Acc v : lanes) sum += v;
  return sum;
}

template <class Acc>
void PackQueries(const GradProblem<Acc>& g, int64_t batch, int64_t head, const QuerySide<Acc>& to) {
  const AttentionProblem& p = g.p;
  const AttentionStrides& dy_at = g.of.dy_at;
  PackRows({g.in.q, p.q.At(batch, head, 0), p.q.row, p.q.column}, p.queries, p.width, to.q);
  PackRows({g.of.dy, dy_at.At(batch, head, 0), dy_at.row, dy_at.column}, p.queries, p.value_width,
           to.dy);
  const auto scale = static_cast<Acc>(p.scale);
  for (int64_t i = 0; i < p.queries; ++i) {
    for (int64_t panel = 0; panel * kPanel<Acc> < p.width; ++panel) {
      Acc* const q = to.q.At(i, panel);
      for (int64_t l = 0; l < kPanel<Acc>; ++l) q[l] *= scale;
    }
    to.dot[i] = DotWithResult(g, g.of.y_at.At(batch, head, i), i, to.dy);
    const Acc logsumexp = g.of.logsumexp[g.of.logsumexp_at.At(batch, head, i)];
    // Where a query sees no key, all weights are 0.
    to.shift[i] = logsumexp == kNoScore<Acc> ? -kNoScore<Acc> : logsumexp;
  }
}

// From scores and dy v^T to P Z and dS, row by row.
template <class Acc>
void WeighTile(const GradProblem<Acc>& g, const ScoreTile& t, const KeptWeights<Acc>& kept,
               const QuerySide<Acc>& side, Scratch<Acc>& s) {
  constexpr int64_t kWidth = kPanel<Acc>;
  Acc factors[kTileKeys];
  std::fill_n(factors, kTileKeys, Acc{1});
  for (int64_t i = 0; i < t.queries; ++i) {
    const ScoreRow<Acc> row = RowOf(g.p, t, s.weights, i), ds = RowOf(g.p, t, s.dscores, i);
    if (g.in.mask.given() || g.p.Seen(t.query + i) < t.key + row.panels * kWidth) {
      MaskRow(g.p, t, i, g.in.mask, row);
    }
    if (!kept.all()) kept.Choose(t, i, kept.scale(), factors);
    const Acc shift = side.shift[t.query + i], dot = side.dot[t.query + i];
    for (int64_t panel = 0; panel < row.panels; ++panel) {
      Acc* const x = row.At(panel);
      Acc* const d = ds.At(panel);
      const Acc* const z = factors + panel * kWidth;
      FIRN_INDEPENDENT_STEPS
      for (int64_t l = 0; l < kWidth; ++l) {
        const Acc weight = math::ExpOfWeight(LogWeight(x[l], shift));
        d[l] = weight * (d[l] * z[l] - dot);
        x[l] = weight * z[l];
      }
    }
  }
}

// Adds a tile's contributions to the gradients of its queries and keys.
template <class Acc>
void GradOfTile(const GradProblem<Acc>& g, const ScoreTile& t, const KeptWeights<Acc>& kept,
                const QuerySide<Acc>& side, Scratch<Acc>& s) {
  const AttentionProblem& p = g.p;
  MultiplyScores(p, t, side.q, t.query, s.k_columns, 0, p.width, s.weights);
  MultiplyScores(p, t, side.dy, t.query, s.v_columns, 0, p.value_width, s.dscores);
  WeighTile(g, t, kept, side, s);
  MultiplyByQueries(p, t, s.weights, side.dy, t.query, p.value_width, s.dv);
  MultiplyByQueries(p, t, s.dscores, side.q, t.query, p.width, s.dk);
  MultiplyByKeys(p, t, s.dscores, s.k, 0, p.width, side.dq, t.query, true);
}

// A tile of keys along all queries of its group.
template <class Acc>
void GradOfKeys(const GradProblem<Acc>& g, ScoreTile t, int64_t kv_head,
                const KeptWeights<Acc>& kept, Scratch<Acc>& s) {
  const AttentionProblem& p = g.p;
  const int64_t k_at = p.k.At(t.batch, kv_head, t.key), v_at = p.v.At(t.batch, kv_head, t.key);
  Pack({g.in.k, k_at, p.k.column, p.k.row}, p.width, t.keys, s.k_columns);
  Pack({g.in.v, v_at, p.v.column, p.v.row}, p.value_width, t.keys, s.v_columns);
  Pack({g.in.k, k_at, p.k.row, p.k.column}, t.keys, p.width, s.k);
  Zero(s.dk, p.width);
  Zero(s.dv, p.value_width);
  for (int64_t member = 0; member < p.group(); ++member) {
    const QuerySide<Acc> side = s.Side(p, member);
    t.head = kv_head * p.group() + member;
    const int64_t first = p.causal ? t.key / kTileQueries * kTileQueries : 0;
    for (t.query = first; t.query < p.queries; t.query += kTileQueries) {
      t.queries = std::min(kTileQueries, p.queries - t.query);
      GradOfTile(g, t, kept, side, s);
    }
  }
  const auto one = [](int64_t) { return Acc{1}; };
  const AttentionStrides dk = ByRows(p.kv_heads, p.keys, p.width);
  const AttentionStrides dv = ByRows(p.kv_heads, p.keys, p.value_width);
  Unpack(s.dk, t.keys, p.width, g.out.k, dk.At(t.batch, kv_head, t.key), dk.row, one);
  Unpack(s.dv, t.keys, p.value_width, g.out.v, dv.At(t.batch, kv_head, t.key), dv.row, one);
}

template <class Acc>
void GradOfHead(const GradProblem<Acc>& g, int64_t batch, int64_t kv_head, Scratch<Acc>& s) {
  const AttentionProblem& p = g.p;
  const KeptWeights<Acc> kept(p, g.in.words);
  Zero(s.side.dq, p.width);
  for (int64_t member = 0; member < p.group(); ++member) {
    PackQueries(g, batch, kv_head * p.group() + member, s.Side(p, member));
  }
  ScoreTile t;
  t.batch = batch;
  for (t.key = 0; t.key < p.keys; t.key += kTileKeys) {
    t.keys = std::min(kTileKeys, p.keys - t.key);
    GradOfKeys(g, t, kv_head, kept, s);
  }
  const AttentionStrides dq = ByRows(p.heads, p.queries, p.width);
  for (int64_t member = 0; member < p.group(); ++member) {
    Unpack(s.Side(p, member).dq, p.queries, p.width, g.out.q,
           dq.At(batch, kv_head * p.group() + member, 0), dq.row,
           [&](int64_t) { return static_cast<Acc>(p.scale); });
  }
}

}  // namespace

template <class Acc>
AttentionSlots SlotsOfAttentionGrad(const AttentionProblem& p) {
  const double flops = 5.0 * static_cast<double>(p.queries * p.group()) *
                       static_cast<double>(p.keys) * static_cast<double>(p.width + p.value_width);
  return {CountSlots(p.batch * p.kv_heads, flops), Scratch<Acc>(p, nullptr).from.bytes()};
}

template <class Acc>
void AttentionGrad(const AttentionProblem& p, const AttentionInputs<Acc>& in,
                   const AttentionResults<Acc>& results, const AttentionSlots& slots,
                   void* workspace, const AttentionGradients<Acc>& gradients) {
  const GradProblem<Acc> g{p, in, results, gradients};
  ForEachSlot(slots, p.batch * p.kv_heads, [&](int64_t slot, int64_t begin, int64_t end) {
    Scratch<Acc> s(p, static_cast<char*>(workspace) + static_cast<size_t>(slot) * slots.bytes);
    for (int64_t unit = begin; unit < end; ++unit) {
      GradOfHead(g, unit / p.kv_heads, unit % p.kv_heads, s);
    }
  });
}

template AttentionSlots SlotsOfAttentionGrad<float>(const AttentionProblem&);
template AttentionSlots SlotsOfAttentionGrad<double>(const AttentionProblem&);
template void AttentionGrad(const AttentionProblem&, const AttentionInputs<float>&,
                            const AttentionResults<float>&, const AttentionSlots&, void*,
                            const AttentionGradients<float>&);
template void AttentionGrad(const AttentionProblem&, const AttentionInputs<double>&,
                            const AttentionResults<double>&, const AttentionSlots&, void*,
                            const AttentionGradients<double>&);

}  // namespace firn::cpu
