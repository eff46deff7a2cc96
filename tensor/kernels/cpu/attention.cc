// Attention forward: some queries at a time go along the keys. For each query they keep the largest
// score so far, the sum of exp(score - largest), and the sum of values with these weights; where a
// larger score comes, both sums are scaled down. A slot packs the keys and values of a head once
// for all its queries of that head. A few queries, such as those of a sequence that is decoded,
// read keys and values where they lie: packing would take longer than all the rest.

#include "firn/tensor/kernels/cpu/attention.h"

#include <type_traits>
#include <utility>

#include "firn/device/simd_sums.h"
#include "firn/tensor/kernels/cpu/attention_parts.h"
#include "firn/tensor/kernels/cpu/attention_tiles.h"
#include "firn/tensor/kernels/math.h"

namespace firn::cpu {
namespace {

template <class Acc>
struct Scratch {
  Scratch(const AttentionProblem& p, void* base)
      : from(base), parts(p, std::is_same_v<Acc, float> && IsByParts(p), from) {
    keys = from.TakePanels<Acc>(p.width, p.keys);
    values = from.TakePanels<Acc>(p.keys, p.value_width);
    q = from.TakePanels<Acc>(kTileQueries, p.width);
    scores = from.TakePanels<Acc>(kTileQueries, kTileKeys);
    y = from.TakePanels<Acc>(kTileQueries, p.value_width);
  }

  AttentionScratch from;
  AttentionParts parts;
  Panels<Acc> keys, values, q, scores, y;
  alignas(64) Acc top[kTileQueries], sum[kTileQueries];
};

// The largest scores of a row by lane; none is less than `top`.
template <class Acc>
FIRN_ALWAYS_INLINE Vec<Acc> TopsOf(const ScoreRow<Acc>& row, Acc top) {
  Vec<Acc> first = Vec<Acc>{} + top, second = first;
  for (int64_t panel = 0; panel < row.panels; ++panel) {
    Vec<Acc> left, right;
    std::memcpy(&left, row.At(panel), sizeof(left));
    std::memcpy(&right, row.At(panel) + kSimdLanes<Acc>, sizeof(right));
    first = left > first ? left : first;
    second = right > second ? right : second;
  }
  return first > second ? first : second;
}

// Replaces x by exp(x - shift) and returns sums of these.
template <class Acc>
FIRN_ALWAYS_INLINE Vec<Acc> ExpOf(const ScoreRow<Acc>& row, Acc shift) {
  constexpr int64_t kWidth = kPanel<Acc>;
  alignas(64) Acc lanes[kWidth] = {};
  for (int64_t panel = 0; panel < row.panels; ++panel) {
    Acc* const x = row.At(panel);
    FIRN_INDEPENDENT_STEPS
    for (int64_t l = 0; l < kWidth; ++l) {
      x[l] = math::ExpOfWeight(x[l] - shift);
      lanes[l] += x[l];
    }
  }
  Vec<Acc> left, right;
  std::memcpy(&left, lanes, sizeof(left));
  std::memcpy(&right, lanes + kSimdLanes<Acc>, sizeof(right));
  return left + right;
}

template <class Acc>
void ScaleRow(const Panels<Acc>& y, int64_t row, int64_t columns, Acc by) {
  for (int64_t panel = 0; panel * kPanel<Acc> < columns; ++panel) {
    Acc* const x = y.At(row, panel);
    for (int64_t l = 0; l < kPanel<Acc>; ++l) x[l] *= by;
  }
}

template <class Acc>
FIRN_ALWAYS_INLINE void ScaleScores(const ScoreRow<Acc>& row, Acc by) {
  for (int64_t panel = 0; panel < row.panels; ++panel) {
    Acc* const x = row.At(panel);
    for (int64_t l = 0; l < kPanel<Acc>; ++l) x[l] *= by;
  }
}

// Turns scores into weights that are not yet divided by their sum, and scales the sums over earlier
// keys to match, for as many queries of the tile from `first` on as a vector has lanes, of which
// `at_once` see the same panels. The scores are not yet multiplied by `scale`.
template <class Acc>
void WeighRows(const AttentionProblem& p, const AttentionInputs<Acc>& in, const ScoreTile& t,
               int64_t first, int64_t at_once, Acc scale, const KeptWeights<Acc>& kept,
               Scratch<Acc>& s) {
  constexpr int64_t kLanes = kSimdLanes<Acc>;
  const int64_t n = std::min(kLanes, t.queries - first);
  ScoreRow<Acc> rows[kLanes];
  Vec<Acc> lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) {
    rows[i] = RowOf(p, t, s.scores, first + i, at_once);
    if (scale != 1) ScaleScores(rows[i], scale);
    if (in.mask.given() || p.Seen(t.query + first + i) < t.key + rows[i].panels * kPanel<Acc>) {
      MaskRow(p, t, first + i, in.mask, rows[i]);
    }
    lanes[i] = TopsOf(rows[i], s.top[first + i]);
  }
  const Vec<Acc> top = inner::internal::CombineLanes<Acc>(
      lanes, [](Vec<Acc> x, Vec<Acc> y) { return x > y ? x : y; });
  alignas(64) Acc shift[kLanes], before[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    shift[i] = top[i] == kNoScore<Acc> ? Acc{0} : top[i];  // no score at all: weights of 0
    before[i] = math::Exp(s.top[first + i] - shift[i]);
  }
  for (int64_t i = 0; i < n; ++i) lanes[i] = ExpOf(rows[i], shift[i]);
  const Vec<Acc> sum = inner::internal::SumOfLanes<Acc>(lanes);
  for (int64_t i = 0; i < kLanes; ++i) {
    s.sum[first + i] = s.sum[first + i] * before[i] + sum[i];
    s.top[first + i] = top[i];
  }
  for (int64_t i = 0; t.key > 0 && i < n; ++i) {
    if (before[i] != 1) ScaleRow(s.y, first + i, p.value_width, before[i]);
  }
  for (int64_t i = 0; !kept.all() && i < n; ++i) {
    alignas(64) Acc factors[kTileKeys];
    kept.Choose(t, first + i, Acc{1}, factors);
    for (int64_t panel = 0; panel < rows[i].panels; ++panel) {
      Acc* const x = rows[i].At(panel);
      for (int64_t l = 0; l < kPanel<Acc>; ++l) x[l] *= factors[panel * kPanel<Acc> + l];
    }
  }
}

// Takes the queries of a tile along all keys: multiply(t) computes scores, not yet multiplied by
// `scale`, and add(t) multiplies weights by values.
template <class Acc, class Multiply, class Add>
void AttendTile(const AttentionProblem& p, const AttentionInputs<Acc>& in, ScoreTile t,
                int64_t at_once, Acc scale, Scratch<Acc>& s, const RowsOut<Acc>& y, Acc* logsumexp,
                const Multiply& multiply, const Add& add) {
  const KeptWeights<Acc> kept(p, in.words);
  std::fill_n(s.top, kTileQueries, kNoScore<Acc>);
  std::fill_n(s.sum, kTileQueries, Acc{0});
  const int64_t end = p.Seen(t.query + t.queries - 1);
  for (t.key = 0; t.key < end; t.key += kTileKeys) {
    t.keys = std::min(kTileKeys, p.keys - t.key);
    multiply(t);
    for (int64_t i = 0; i < t.queries; i += kSimdLanes<Acc>) {
      WeighRows(p, in, t, i, at_once, scale, kept, s);
    }
    add(t);
  }
  const AttentionStrides at = ByRows(p.heads, p.queries, p.value_width);
  const bool none = end == 0;
  if (none) std::fill_n(s.y.data, PanelsSize<Acc>(kTileQueries, p.value_width), Acc{0});
  Unpack(s.y, t.queries, p.value_width, y, at.At(t.batch, t.head, t.query), at.row,
         [&](int64_t i) { return s.sum[i] == 0 ? Acc{0} : kept.scale() / s.sum[i]; });
  Acc* const logs = logsumexp + (t.batch * p.heads + t.head) * p.queries + t.query;
  for (int64_t i = 0; i < t.queries; ++i) logs[i] = s.top[i] + math::Log(s.sum[i]);
}

// Uses the panels s.keys and s.values.
template <class Acc>
void AttendInPanels(const AttentionProblem& p, const AttentionInputs<Acc>& in, const ScoreTile& t,
                    Scratch<Acc>& s, const RowsOut<Acc>& y, Acc* logsumexp) {
  Pack({in.q, p.q.At(t.batch, t.head, t.query), p.q.row, p.q.column}, t.queries, p.width, s.q);
  for (int64_t i = 0; i < t.queries; ++i) ScaleRow(s.q, i, p.width, static_cast<Acc>(p.scale));
  AttendTile(
      p, in, t, kTileRows, Acc{1}, s, y, logsumexp,
      [&](const ScoreTile& of) {
        MultiplyScores(p, of, s.q, 0, s.keys, of.key / kPanel<Acc>, p.width, s.scores);
      },
      [&](const ScoreTile& of) {
        MultiplyByKeys(p, of, s.scores, s.values, of.key, p.value_width, s.y, 0, of.key > 0);
      });
}

// Uses the tiles of the head in s.parts. Returns false if a query is infinite or NaN.
template <int kParts>
bool AttendByParts(const AttentionProblem& p, const AttentionInputs<float>& in, const ScoreTile& t,
                   Scratch<float>& s, const RowsOut<float>& y, float* logsumexp) {
  if (!s.parts.PackQueries<kParts>(in, t)) return false;
  AttendTile(
      p, in, t, kPartsRows, static_cast<float>(p.scale), s, y, logsumexp,
      [&](const ScoreTile& of) { s.parts.MultiplyScores<kParts>(of, s.scores); },
      [&](const ScoreTile& of) { s.parts.MultiplyValues<kParts>(of, s.scores, of.key > 0, s.y); });
  return true;
}

// The heads that a slot goes through; it packs the keys and values of each, as panels or as tiles.
template <class Acc>
class PackedHead {
 public:
  PackedHead(const AttentionProblem& p, const AttentionInputs<Acc>& in, Scratch<Acc>& s)
      : p_(p), in_(in), s_(s) {}

  void Attend(const ScoreTile& t, const RowsOut<Acc>& y, Acc* logsumexp) {
    const int64_t kv_head = t.head / p_.group();
    if constexpr (std::is_same_v<Acc, float>) {
      if (by_parts_ && AttendSome(t, kv_head, y, logsumexp)) return;
    }
    if (IsNew(t, kv_head, panels_of_)) {
      Pack({in_.k, p_.k.At(t.batch, kv_head, 0), p_.k.column, p_.k.row}, p_.width, p_.keys,
           s_.keys);
      Pack({in_.v, p_.v.At(t.batch, kv_head, 0), p_.v.row, p_.v.column}, p_.keys, p_.value_width,
           s_.values);
    }
    AttendInPanels(p_, in_, t, s_, y, logsumexp);
  }

 private:
  bool IsNew(const ScoreTile& t, int64_t kv_head, int64_t& packed) const {
    const int64_t head = t.batch * p_.kv_heads + kv_head;
    return std::exchange(packed, head) != head;
  }
  template <int kParts>
  bool AttendWith(const ScoreTile& t, int64_t kv_head, const RowsOut<float>& y, float* logsumexp) {
    if (IsNew(t, kv_head, parts_of_)) {
      finite_ = s_.parts.template PackHead<kParts>(in_, t.batch, kv_head);
    }
    return finite_ && AttendByParts<kParts>(p_, in_, t, s_, y, logsumexp);
  }
  bool AttendSome(const ScoreTile& t, int64_t kv_head, const RowsOut<float>& y, float* logsumexp) {
    return in_.bfloats ? AttendWith<1>(t, kv_head, y, logsumexp)
                       : AttendWith<3>(t, kv_head, y, logsumexp);
  }

  const AttentionProblem& p_;
  const AttentionInputs<Acc>& in_;
  Scratch<Acc>& s_;
  const bool by_parts_ = IsByParts(p_);
  bool finite_ = false;
  int64_t panels_of_ = -1, parts_of_ = -1;
};

// --- A few queries -------------------------------------------------------------------------------

constexpr int64_t kFewQueries = 4;

template <class Acc>
bool AreFew(const AttentionProblem& p, const AttentionInputs<Acc>& in) {
  const bool as_they_lie =
      !in.q.converted() && p.q.column == 1 && p.k.column == 1 && p.v.column == 1 && p.width > 0;
  return p.queries <= kFewQueries && p.dropout == 0 && as_they_lie;
}

template <class Acc>
FIRN_ALWAYS_INLINE Vec<Acc> LoadVec(const Acc* from) {
  Vec<Acc> v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

// The products of a query with as many keys as a vector has lanes, from `k` on.
template <class Acc>
FIRN_ALWAYS_INLINE Vec<Acc> DotsWithKeys(const Acc* q, const Acc* k, int64_t step, int64_t width) {
  constexpr int64_t kLanes = kSimdLanes<Acc>;
  const int64_t whole = width - width % kLanes;
  Vec<Acc> sums[kLanes];
  alignas(64) Acc rest[kLanes] = {};
  for (int64_t j = 0; j < kLanes; ++j, k += step) {
    Vec<Acc> sum = {};
    for (int64_t c = 0; c < whole; c += kLanes) sum += LoadVec(q + c) * LoadVec(k + c);
    sums[j] = sum;
    for (int64_t c = whole; c < width; ++c) rest[j] += q[c] * k[c];
  }
  return inner::internal::SumOfLanes<Acc>(sums) + LoadVec(rest);
}
template <class Acc>
Acc DotWithKey(const Acc* q, const Acc* k, int64_t width) {
  Acc sum = 0;
  for (int64_t c = 0; c < width; ++c) sum += q[c] * k[c];
  return sum;
}

// The sum of weights times values, for n columns, at most a panel's. Several keys at a time have
// sums of their own, so that additions do not wait for each other.
template <class Acc>
void AddValues(const Acc* weights, int64_t keys, const Acc* v, int64_t step, int64_t n, Acc* sums) {
  constexpr int64_t kAtOnce = 4, kLanes = kSimdLanes<Acc>;
  Vec<Acc> some[kAtOnce][2] = {};
  int64_t j = 0;
  for (; n == kPanel<Acc> && j + kAtOnce <= keys; j += kAtOnce) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kAtOnce; ++i) {
      const Acc* const row = v + (j + i) * step;
      some[i][0] += weights[j + i] * LoadVec(row);
      some[i][1] += weights[j + i] * LoadVec(row + kLanes);
    }
  }
  for (int64_t w = 0; w < 2; ++w) {
    const Vec<Acc> all = (some[0][w] + some[1][w]) + (some[2][w] + some[3][w]);
    std::memcpy(sums + w * kLanes, &all, sizeof(all));
  }
  for (; j < keys; ++j) {
    for (int64_t l = 0; l < n; ++l) sums[l] += weights[j] * v[j * step + l];
  }
}

// How many keys query `i` sees, without those at the end that a boolean mask hides, such as the
// unused room of a cache behind the sequence.
template <class Acc>
int64_t SeenWithMask(const AttentionProblem& p, const AttentionInputs<Acc>& in, const ScoreTile& t,
                     int64_t i) {
  int64_t seen = p.Seen(i);
  if (in.mask.seen == nullptr || p.mask.column != 1) return seen;
  const bool* const mask = in.mask.seen + p.mask.At(t.batch, t.head, i);
  constexpr int64_t kAtOnce = sizeof(uint64_t);
  for (uint64_t some = 0; seen >= kAtOnce; seen -= kAtOnce) {
    std::memcpy(&some, mask + seen - kAtOnce, kAtOnce);
    if (some != 0) break;
  }
  while (seen > 0 && !mask[seen - 1]) --seen;
  return seen;
}

// The queries of a head one by one; `scores` has room for one score for each key.
template <class Acc>
void AttendFew(const AttentionProblem& p, const AttentionInputs<Acc>& in, ScoreTile t, Acc* scores,
               const RowsOut<Acc>& y, Acc* logsumexp) {
  constexpr int64_t kLanes = kSimdLanes<Acc>, kWidth = kPanel<Acc>;
  const int64_t kv_head = t.head / p.group();
  const Acc* const k = in.k.At(p.k.At(t.batch, kv_head, 0), 1, scores);
  const Acc* const v = in.v.At(p.v.At(t.batch, kv_head, 0), 1, scores);
  const AttentionStrides at = ByRows(p.heads, p.queries, p.value_width);
  t.keys = p.keys;
  for (int64_t i = 0; i < p.queries; ++i) {
    const Acc* const q = in.q.At(p.q.At(t.batch, t.head, i), 1, scores);
    const int64_t seen = SeenWithMask(p, in, t, i);
    int64_t j = 0;
    for (; j + kLanes <= seen; j += kLanes) {
      const Vec<Acc> dots = DotsWithKeys(q, k + j * p.k.row, p.k.row, p.width);
      std::memcpy(scores + j, &dots, sizeof(dots));
    }
    for (; j < seen; ++j) scores[j] = DotWithKey(q, k + j * p.k.row, p.width);
    for (j = 0; j < seen; ++j) scores[j] *= static_cast<Acc>(p.scale);
    const ScoreRow<Acc> row{scores, kWidth, CeilDiv(seen, kWidth)};
    MaskRow(p, t, i, in.mask, row);
    alignas(64) Acc lanes[kLanes];
    const Vec<Acc> tops = TopsOf(row, kNoScore<Acc>);
    std::memcpy(lanes, &tops, sizeof(lanes));
    const Acc top = *std::max_element(lanes, lanes + kLanes);
    const Vec<Acc> sums = ExpOf(row, top == kNoScore<Acc> ? Acc{0} : top);
    std::memcpy(lanes, &sums, sizeof(lanes));
    Acc sum = 0;
    for (const Acc lane : lanes) sum += lane;
    const Acc scale = sum == 0 ? Acc{0} : 1 / sum;
    for (int64_t c = 0; c < p.value_width; c += kWidth) {
      alignas(64) Acc result[kWidth];
      const int64_t n = std::min(kWidth, p.value_width - c);
      AddValues(scores, seen, v + c, p.v.row, n, result);
      for (Acc& r : result) r *= scale;
      y.Store(at.At(t.batch, t.head, i) + c, n, result);
    }
    logsumexp[(t.batch * p.heads + t.head) * p.queries + i] = top + math::Log(sum);
  }
}

}  // namespace

template <class Acc>
AttentionSlots SlotsOfAttention(const AttentionProblem& p) {
  const int64_t tiles = p.batch * p.heads * CeilDiv(p.queries, kTileQueries);
  const double flops = 2.0 * static_cast<double>(std::min(p.queries, kTileQueries)) *
                       static_cast<double>(p.keys) * static_cast<double>(p.width + p.value_width);
  return {CountSlots(tiles, flops), Scratch<Acc>(p, nullptr).from.bytes()};
}

template <class Acc>
void Attention(const AttentionProblem& p, const AttentionInputs<Acc>& in,
               const AttentionSlots& slots, void* workspace, const RowsOut<Acc>& y,
               Acc* logsumexp) {
  const int64_t tiles = CeilDiv(p.queries, kTileQueries);
  const bool few = AreFew(p, in);
  ForEachSlot(slots, p.batch * p.heads * tiles, [&](int64_t slot, int64_t begin, int64_t end) {
    Scratch<Acc> s(p, static_cast<char*>(workspace) + static_cast<size_t>(slot) * slots.bytes);
    PackedHead<Acc> packed(p, in, s);
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t batch = unit;
      // From both ends in turn, since later queries see more keys.
      const int64_t n = TakeDigit(batch, tiles), tile = n % 2 == 0 ? n / 2 : tiles - 1 - n / 2;
      const int64_t head = TakeDigit(batch, p.heads);
      if (few) {
        AttendFew(p, in, {batch, head, 0, p.queries, 0, 0}, s.keys.data, y, logsumexp);
        continue;
      }
      const int64_t query = tile * kTileQueries;
      packed.Attend({batch, head, query, std::min(kTileQueries, p.queries - query), 0, 0}, y,
                    logsumexp);
    }
  });
}

template AttentionSlots SlotsOfAttention<float>(const AttentionProblem&);
template AttentionSlots SlotsOfAttention<double>(const AttentionProblem&);
template void Attention(const AttentionProblem&, const AttentionInputs<float>&,
                        const AttentionSlots&, void*, const RowsOut<float>&, float*);
template void Attention(const AttentionProblem&, const AttentionInputs<double>&,
                        const AttentionSlots&, void*, const RowsOut<double>&, double*);

}  // namespace firn::cpu
