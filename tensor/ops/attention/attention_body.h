#ifndef FIRN_TENSOR_OPS_ATTENTION_ATTENTION_BODY_H_
#define FIRN_TENSOR_OPS_ATTENTION_ATTENTION_BODY_H_

// Attention for every device: a query goes along the keys, 32 columns of its result at a time, with
// the largest score so far and the sums that it scales. The gradient of a query goes the same way,
// that of a key along the queries.

#include <algorithm>
#include <limits>

#include "firn/device/philox.h"
#include "firn/tensor/kernels/attention_problem.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/ops/attention/attention.h"

namespace firn {

namespace inner {

// Strides of a tensor [batch, heads, rows, columns], or [batch, rows, heads, columns].
inline AttentionStrides StridesByHeads(const TensorSpec& spec) {
  const Dims s = StridesOf(spec);
  return {s[0], s[1], s[2], s[3]};
}
inline AttentionStrides StridesByRows(const TensorSpec& spec) {
  const Dims s = StridesOf(spec);
  return {s[0], s[2], s[1], s[3]};
}
// Strides of a mask with up to four dimensions, broadcast.
inline AttentionStrides StridesOfMask(const TensorSpec& spec) {
  const Dims s = StridesOf(spec);
  AttentionStrides to;
  int64_t* const all[] = {&to.batch, &to.head, &to.row, &to.column};
  const int rank = spec.shape.rank();
  for (int i = 0; i < rank; ++i) *all[4 - rank + i] = spec.shape[i] == 1 ? 0 : s[i];
  return to;
}

// The problem of a call. Context: KernelQuery or KernelContext; `spec(i)` gives the spec of input
// i.
template <class F>
AttentionProblem AttentionOf(const AttentionAttrs& a, bool masked, const F& spec) {
  using In = AttentionIn;
  const Shape &q = spec(In::kQ).shape, &v = spec(In::kV).shape;
  AttentionProblem p;
  p.batch = q[0];
  p.heads = q[1];
  p.queries = q[2];
  p.width = q[3];
  p.kv_heads = v[1];
  p.keys = v[2];
  p.value_width = v[3];
  p.scale = a.scale;
  p.dropout = a.dropout;
  p.causal = a.causal;
  p.q = StridesByHeads(spec(In::kQ));
  p.k = StridesByHeads(spec(In::kK));
  p.v = StridesByHeads(spec(In::kV));
  if (masked) p.mask = StridesOfMask(spec(In::kMask));
  return p;
}
inline AttentionProblem AttentionOf(const KernelContext& k) {
  return AttentionOf(k.attrs<AttentionAttrs>(), k.has(AttentionIn::kMask),
                     [&](int i) -> const TensorSpec& { return k.in_spec(i); });
}
inline AttentionProblem AttentionOf(const KernelQuery& q) {
  return AttentionOf(q.attrs<AttentionAttrs>(), q.has(AttentionIn::kMask),
                     [&](int i) -> const TensorSpec& { return q.in(i); });
}

}  // namespace inner

// Columns that a thread computes at once.
inline constexpr int64_t kAttentionColumns = 32;

// Scores and weights, one at a time.
template <class T>
struct AttentionScores {
  using Acc = ComputeOf<T>;
  static constexpr Acc kNone = -std::numeric_limits<Acc>::infinity();

  explicit AttentionScores(const KernelContext& call) : p(inner::AttentionOf(call)) {
    using In = inner::AttentionIn;
    q = call.in<T>(In::kQ);
    k = call.in<T>(In::kK);
    v = call.in<T>(In::kV);
    if (call.has(In::kMask)) {
      (call.in_spec(In::kMask).dtype == DType::kBool ? seen : added) = call.in<void>(In::kMask);
    }
    if (p.dropout > 0) {
      position = call.in<int64_t>(In::kPosition);
      position_step = StridesOf(call.in_spec(In::kPosition))[0];
    }
  }

  FIRN_HOST_DEVICE static Acc Dot(const T* x, int64_t x_step, const T* y, int64_t y_step,
                                  int64_t n) {
    Acc sum = 0;
    for (int64_t c = 0; c < n; ++c) {
      sum += static_cast<Acc>(x[c * x_step]) * static_cast<Acc>(y[c * y_step]);
    }
    return sum;
  }
  // The score of query i of head h and key j.
  FIRN_HOST_DEVICE Acc Score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const Acc dot =
        Dot(q + p.q.At(b, h, i), p.q.column, k + p.k.At(b, h / p.group(), j), p.k.column, p.width);
    const Acc score = dot * static_cast<Acc>(p.scale);
    const int64_t at = p.mask.At(b, h, i) + j * p.mask.column;
    if (seen != nullptr) return static_cast<const bool*>(seen)[at] ? score : kNone;
    if (added != nullptr) return score + static_cast<Acc>(static_cast<const T*>(added)[at]);
    return score;
  }
  // The factor that a dropout gives the weight.
  FIRN_HOST_DEVICE Acc Kept(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (position == nullptr) return 1;
    if (p.dropout >= 1) return 0;
    const PhiloxState words{static_cast<uint64_t>(position[0]),
                            static_cast<uint64_t>(position[position_step])};
    const int64_t e = p.Weight(b, h, i) + j;
    const uint32_t word = PhiloxAt(words, static_cast<uint64_t>(e / 4)).v[e % 4];
    const auto first_kept = static_cast<uint32_t>(p.dropout * 0x1p32);
    return word >= first_kept ? static_cast<Acc>(1 / (1 - p.dropout)) : Acc{0};
  }

  AttentionProblem p;
  const T *q = nullptr, *k = nullptr, *v = nullptr;
  const void *seen = nullptr, *added = nullptr;
  const int64_t* position = nullptr;
  int64_t position_step = 1;
};

// Index: (batch, head, query, piece of the columns).
template <class T>
struct AttentionBody {
  using Acc = ComputeOf<T>;
  AttentionScores<T> s;
  T* y;
  Acc* logsumexp;

  FIRN_HOST_DEVICE void operator()(int64_t index) const {
    const AttentionProblem& p = s.p;
    int64_t b = index;
    const int64_t first = TakeDigit(b, Pieces()) * kAttentionColumns;
    const int64_t i = TakeDigit(b, p.queries), h = TakeDigit(b, p.heads);
    const int64_t n = Least(kAttentionColumns, p.value_width - first);
    Acc sums[kAttentionColumns] = {}, top = AttentionScores<T>::kNone, total = 0;
    for (int64_t j = 0; j < p.Seen(i); ++j) {
      const Acc score = s.Score(b, h, i, j);
      if (score == AttentionScores<T>::kNone) continue;
      if (score > top) {
        const Acc before = math::Exp(top - score);
        total *= before;
        for (int64_t c = 0; c < n; ++c) sums[c] *= before;
        top = score;
      }
      const Acc weight = math::Exp(score - top), kept = weight * s.Kept(b, h, i, j);
      total += weight;
      const T* const v = s.v + p.v.At(b, h / p.group(), j) + first * p.v.column;
      for (int64_t c = 0; c < n; ++c) sums[c] += kept * static_cast<Acc>(v[c * p.v.column]);
    }
    const Acc of_sum = total == 0 ? Acc{0} : 1 / total;
    T* const to = y + ByRows(p.heads, p.queries, p.value_width).At(b, h, i) + first;
    for (int64_t c = 0; c < n; ++c) to[c] = static_cast<T>(sums[c] * of_sum);
    if (first == 0) logsumexp[(b * p.heads + h) * p.queries + i] = top + math::Log(total);
  }
  int64_t cost() const { return s.p.keys * (s.p.width + s.p.value_width); }

  FIRN_HOST_DEVICE static int64_t Least(int64_t x, int64_t y) { return x < y ? x : y; }
  FIRN_HOST_DEVICE int64_t Pieces() const {
    return s.p.value_width == 0 ? 1 : CeilDiv(s.p.value_width, kAttentionColumns);
  }
};

struct AttentionKernel {
  static constexpr Takes kTakes = Takes::kStrided;
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const AttentionBody<T> body{AttentionScores<T>(k), k.out<T>(0), k.out<ComputeOf<T>>(1)};
      const AttentionProblem& p = body.s.p;
      return on.ForEach(p.batch * p.heads * p.queries * body.Pieces(), body);
    });
  }
};

// The gradients that flow through a weight.
template <class T>
struct AttentionSlopes {
  using Acc = ComputeOf<T>;

  explicit AttentionSlopes(const KernelContext& k) : s(k) {
    using In = inner::AttentionGradIn;
    dy = k.in<T>(In::kDy);
    y = k.in<T>(In::kY);
    logsumexp = k.in<Acc>(In::kLogsumexp);
    dy_at = inner::StridesByRows(k.in_spec(In::kDy));
    y_at = inner::StridesByRows(k.in_spec(In::kY));
    const inner::Dims l = StridesOf(k.in_spec(In::kLogsumexp));
    logsumexp_at = {l[0], l[1], l[2], 0};
  }

  // The sum of dy y of a query.
  FIRN_HOST_DEVICE Acc Dot(int64_t b, int64_t h, int64_t i) const {
    return AttentionScores<T>::Dot(dy + dy_at.At(b, h, i), dy_at.column, y + y_at.At(b, h, i),
                                   y_at.column, s.p.value_width);
  }
  // The weight as it was applied, and the gradient of the score.
  struct Slope {
    Acc kept, dscore;
  };
  FIRN_HOST_DEVICE Slope At(int64_t b, int64_t h, int64_t i, int64_t j, Acc dot) const {
    const AttentionProblem& p = s.p;
    const Acc score = s.Score(b, h, i, j), sum = logsumexp[logsumexp_at.At(b, h, i)];
    if (score == AttentionScores<T>::kNone) return {0, 0};
    const Acc weight = math::Exp(LogWeight(score, sum)), kept = s.Kept(b, h, i, j);
    const Acc dweight =
        AttentionScores<T>::Dot(dy + dy_at.At(b, h, i), dy_at.column,
                                s.v + p.v.At(b, h / p.group(), j), p.v.column, p.value_width);
    return {weight * kept, weight * (dweight * kept - dot)};
  }

  AttentionScores<T> s;
  const T *dy, *y;
  const Acc* logsumexp;
  AttentionStrides dy_at, y_at, logsumexp_at;
};

// Index: (batch, head, query, piece of the columns).
template <class T>
struct AttentionQueryGradBody {
  using Acc = ComputeOf<T>;
  AttentionSlopes<T> slopes;
  T* dq;

  FIRN_HOST_DEVICE void operator()(int64_t index) const {
    const AttentionProblem& p = slopes.s.p;
    int64_t b = index;
    const int64_t first = TakeDigit(b, CeilDiv(p.width, kAttentionColumns)) * kAttentionColumns;
    const int64_t i = TakeDigit(b, p.queries), h = TakeDigit(b, p.heads);
    const int64_t n = AttentionBody<T>::Least(kAttentionColumns, p.width - first);
    const Acc dot = slopes.Dot(b, h, i);
    Acc sums[kAttentionColumns] = {};
    for (int64_t j = 0; j < p.Seen(i); ++j) {
      const Acc dscore = slopes.At(b, h, i, j, dot).dscore;
      const T* const k = slopes.s.k + p.k.At(b, h / p.group(), j) + first * p.k.column;
      for (int64_t c = 0; c < n; ++c) sums[c] += dscore * static_cast<Acc>(k[c * p.k.column]);
    }
    T* const to = dq + ByRows(p.heads, p.queries, p.width).At(b, h, i) + first;
    for (int64_t c = 0; c < n; ++c) to[c] = static_cast<T>(sums[c] * static_cast<Acc>(p.scale));
  }
  int64_t cost() const { return slopes.s.p.keys * (2 * slopes.s.p.width); }
};

// Index: (batch, head of keys, key, piece of the columns of both).
template <class T>
struct AttentionKeyGradBody {
  using Acc = ComputeOf<T>;
  AttentionSlopes<T> slopes;
  T *dk, *dv;

  FIRN_HOST_DEVICE void operator()(int64_t index) const {
    const AttentionProblem& p = slopes.s.p;
    int64_t b = index;
    const int64_t first = TakeDigit(b, Pieces()) * kAttentionColumns;
    const int64_t j = TakeDigit(b, p.keys), kv_head = TakeDigit(b, p.kv_heads);
    const int64_t of_k = AttentionBody<T>::Least(kAttentionColumns, p.width - first);
    const int64_t of_v = AttentionBody<T>::Least(kAttentionColumns, p.value_width - first);
    Acc k_sums[kAttentionColumns] = {}, v_sums[kAttentionColumns] = {};
    for (int64_t h = kv_head * p.group(); h < (kv_head + 1) * p.group(); ++h) {
      for (int64_t i = p.causal ? j : 0; i < p.queries; ++i) {
        const auto slope = slopes.At(b, h, i, j, slopes.Dot(b, h, i));
        const T* const q = slopes.s.q + p.q.At(b, h, i) + first * p.q.column;
        const T* const dy = slopes.dy + slopes.dy_at.At(b, h, i) + first * slopes.dy_at.column;
        for (int64_t c = 0; c < of_k; ++c) {
          k_sums[c] += slope.dscore * static_cast<Acc>(q[c * p.q.column]);
        }
        for (int64_t c = 0; c < of_v; ++c) {
          v_sums[c] += slope.kept * static_cast<Acc>(dy[c * slopes.dy_at.column]);
        }
      }
    }
    T* const to_k = dk + ByRows(p.kv_heads, p.keys, p.width).At(b, kv_head, j) + first;
    T* const to_v = dv + ByRows(p.kv_heads, p.keys, p.value_width).At(b, kv_head, j) + first;
    for (int64_t c = 0; c < of_k; ++c) {
      to_k[c] = static_cast<T>(k_sums[c] * static_cast<Acc>(p.scale));
    }
    for (int64_t c = 0; c < of_v; ++c) to_v[c] = static_cast<T>(v_sums[c]);
  }
  int64_t cost() const { return slopes.s.p.queries * (2 * slopes.s.p.width); }
  FIRN_HOST_DEVICE int64_t Pieces() const {
    const int64_t wider =
        slopes.s.p.width > slopes.s.p.value_width ? slopes.s.p.width : slopes.s.p.value_width;
    return CeilDiv(wider, kAttentionColumns);
  }
};

struct AttentionGradKernel {
  static constexpr Takes kTakes = Takes::kStrided;
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
      const AttentionSlopes<T> slopes(k);
      const AttentionProblem& p = slopes.s.p;
      const int64_t pieces = CeilDiv(p.width, kAttentionColumns);
      FIRN_RETURN_IF_ERROR(on.ForEach(p.batch * p.heads * p.queries * pieces,
                                      AttentionQueryGradBody<T>{slopes, k.out<T>(0)}));
      const AttentionKeyGradBody<T> body{slopes, k.out<T>(1), k.out<T>(2)};
      return on.ForEach(p.batch * p.kv_heads * p.keys * body.Pieces(), body);
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_ATTENTION_BODY_H_
