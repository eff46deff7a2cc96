#ifndef FIRN_TENSOR_KERNELS_CPU_LSTM_STEPS_H_
#define FIRN_TENSOR_KERNELS_CPU_LSTM_STEPS_H_

// A step of lstm_layer (lstm_kernels.cc): the sums of its gates, and the gates and states from
// these. Sums by tiles become gates while they are in cache, 32 rows of 16 units at a time; other
// sums become gates in place.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/types/span.h"
#include "firn/device/macros.h"
#include "firn/device/non_temporal_copy.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/kernels/cpu/recurrent_layer.h"
#include "firn/tensor/kernels/math.h"

namespace firn::cpu::lstm {

inline constexpr int64_t kGates = 4;

// e^x and e^x - 1 for x <= 0; below -87 those of -87.
struct Power {
  float power, less_one;
};
FIRN_ALWAYS_INLINE Power PowerOfNegative(float x) {
  const math::internal::ExpReduction e = math::internal::ReduceExp(x < -87.0f ? -87.0f : x);
  const float s = math::internal::PowerOf2(e.n), rest = s * math::internal::Expm1OfReduced(e.r);
  return {s + rest, (s - 1.0f) + rest};
}

template <class T>
FIRN_ALWAYS_INLINE T TanhOf(T x) {
  return math::Tanh(x);
}
template <>
FIRN_ALWAYS_INLINE float TanhOf(float x) {
  const float m = PowerOfNegative(-2.0f * math::Abs(x)).less_one;
  return math::WithSign(-m / (2.0f + m), x);
}

// A unit's gates.
template <class T>
struct UnitGates {
  T in, forget, candidate, out;
};
template <class T>
FIRN_ALWAYS_INLINE UnitGates<T> GatesOf(T in, T forget, T candidate, T out) {
  return {math::Sigmoid(in), math::Sigmoid(forget), math::Tanh(candidate), math::Sigmoid(out)};
}
// Uses a single division, which takes half of the time of a gate: sigmoid(x) is 1 / (1 + e^-|x|) or
// e^-|x| times that, tanh(|x|) is (1 - e^-2|x|) / (1 + e^-2|x|). NaN reaches a gate by its
// numerator only, since the gates share the divisor.
FIRN_ALWAYS_INLINE float Divisor(float d) { return d == d ? d : 1.0f; }
template <>
FIRN_ALWAYS_INLINE UnitGates<float> GatesOf(float in, float forget, float candidate, float out) {
  const float pi = PowerOfNegative(-math::Abs(in)).power;
  const float pf = PowerOfNegative(-math::Abs(forget)).power;
  const float po = PowerOfNegative(-math::Abs(out)).power;
  const float mg = PowerOfNegative(-2.0f * math::Abs(candidate)).less_one;
  const float di = Divisor(1.0f + pi), df = Divisor(1.0f + pf);
  const float dg = Divisor(2.0f + mg), d_out = Divisor(1.0f + po);
  const float first = di * df, second = dg * d_out, all = 1.0f / (first * second);
  const float r = all * second, q = all * first;
  return {(in >= 0.0f ? 1.0f : pi) * (r * df), (forget >= 0.0f ? 1.0f : pf) * (r * di),
          math::WithSign(-mg * (q * d_out), candidate), (out >= 0.0f ? 1.0f : po) * (q * dg)};
}

// Overwrites the sums of `n` units, `step` from gate to gate, by the gates, and computes the
// states: cells from the previous ones, which may lie elsewhere, and the projection's input. It
// does so in two passes: a single one would wait for more than a processor looks ahead.
template <class T>
FIRN_ALWAYS_INLINE void Gates(int64_t n, int64_t step, T* gates, const T* before, T* cell, T* h) {
  T *const in = gates, *const forget = in + step, *const candidate = forget + step;
  T* const out = candidate + step;
  FIRN_INDEPENDENT_STEPS
  for (int64_t u = 0; u < n; ++u) {
    const UnitGates<T> unit = GatesOf(in[u], forget[u], candidate[u], out[u]);
    cell[u] = unit.forget * before[u] + unit.in * unit.candidate;
    in[u] = unit.in;
    forget[u] = unit.forget;
    candidate[u] = unit.candidate;
    out[u] = unit.out;
  }
  FIRN_INDEPENDENT_STEPS
  for (int64_t u = 0; u < n; ++u) h[u] = out[u] * TanhOf(cell[u]);
}

// The sizes of a call, for both directions of the kernel, and the shapes of its products.
struct Sizes {
  int64_t rows, batch, hidden, state;
  bool projected, tiles;

  PanelShape step() const { return {kGates, hidden, state, 1, state, tiles}; }
  PanelShape back() const { return {1, state, kGates * hidden, state, 1, tiles, 2}; }
  PanelShape projection() const { return {1, state, hidden, 1, hidden, tiles}; }
  PanelShape projection_back() const { return {1, hidden, state, hidden, 1, tiles, 2}; }
};

// Some rows of a step that either all have an earlier step or all begin: their inputs and states,
// and their first rows in the tensors that steps write.
template <class T>
struct Block {
  int64_t rows;
  bool begins;
  const T *x, *h, *c;
  T *gates, *cells, *to;
};

// A panel's units in some rows; copies them from rows of groups of `hidden` elements to vectors of
// PanelSums, and back.
struct PanelPart {
  int64_t rows, first, units, hidden;

  void From(const float* from, int64_t groups, float* to) const {
    for (int64_t g = 0; g < groups; ++g) {
      for (int64_t i = 0; i < rows; ++i) {
        const float* const row = from + (i * groups + g) * hidden + first;
        Store<false>(Load(row, units), to + At(i, g));
      }
    }
  }
  template <bool kNonTemporal = false>
  void To(const float* from, int64_t groups, float* to) const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t g = 0; g < groups; ++g) {
        float* const row = to + (i * groups + g) * hidden + first;
        const Vec<float> v = inner::internal::LoadAll(from + At(i, g));
        units == kLanes ? Store<kNonTemporal>(v, row) : inner::internal::StorePart(v, units, row);
      }
    }
  }

 private:
  static constexpr int64_t kLanes = PanelSums::kLanes;
  static int64_t At(int64_t row, int64_t group) {
    return group * PanelSums::kVector + row * kLanes;
  }
  static Vec<float> Load(const float* from, int64_t units) {
    return units == kLanes ? inner::internal::LoadAll(from)
                           : inner::internal::LoadPart(from, units);
  }
  template <bool kNonTemporal>
  static void Store(Vec<float> v, float* to) {
    if constexpr (kNonTemporal) {
      inner::internal::StoreNonTemporal<float>(v, to);
    } else {
      inner::internal::StoreAll<float>(v, to);
    }
  }
};

template <class T>
class Steps {
 public:
  // `gates`: those of all steps.
  Steps(const Sizes& s, const InputSums<T>& input, const Panels<T>& panels, const T* gates)
      : s_(s),
        input_(input),
        panels_(panels),
        at_once_(AtOnce()),
        non_temporal_(NonTemporal(gates)) {}

  void operator()(const Block<T>& b, const StepPiece& piece) const {
    if constexpr (std::is_same_v<T, float>) {
      if (at_once_) return OfTiles(b, piece);
    }
    T* const sums = b.gates;
    input_.Step(b.x, 0, b.rows, piece, sums);
    panels_.Multiply(piece.panel_begin, piece.panel_end, b.rows, b.h, s_.state, sums,
                     kGates * s_.hidden, true);
    OfSums(b, piece);
  }

 private:
  // Whether sums by tiles become gates at once, in PanelSums.
  bool AtOnce() const {
    const auto fits = [](const PanelShape& p) {
      return Panels<T>::ByTiles(p) && p.depth <= PanelSums::kMostDepth;
    };
    return fits(s_.step()) && (!input_.by_step() || fits(input_.shape()));
  }
  // Computes gates and states from complete sums.
  void OfSums(const Block<T>& b, const StepPiece& piece) const {
    const int64_t first = panels_.UnitBegin(piece.panel_begin);
    const int64_t units = panels_.UnitBegin(piece.panel_end) - first;
    for (int64_t i = 0; i < b.rows; ++i) {
      const int64_t at = i * s_.hidden + first;
      Gates(units, s_.hidden, b.gates + i * kGates * s_.hidden + first, b.c + at, b.cells + at,
            b.to + at);
    }
  }

  void OfTiles(const Block<T>& b, const StepPiece& piece) const {
    PanelFactor factors[] = {panels_.Times(b.h, s_.state), input_.Times(b.x)};
    factors[0].exact = b.begins;  // with what was given
    PanelSums::ForEach(
        absl::MakeSpan(factors, input_.by_step() ? 2 : 1), b.rows, piece.panel_begin,
        piece.panel_end,
        [&](int64_t panel, int64_t row, int64_t rows, float* sums) {
          if (input_.by_step()) return PanelSums::Onto{input_.PanelBias(panel), 0, kLanes};
          Part(panel, rows).From(b.gates + row * kGates * s_.hidden, kGates, sums);
          return PanelSums::Onto{sums, kLanes, PanelSums::kVector};
        },
        [&](int64_t panel, int64_t row, int64_t rows, float* sums) {
          alignas(64) T cells[PanelSums::kVector], h[PanelSums::kVector];
          const PanelPart part = Part(panel, rows);
          part.From(b.c + row * s_.hidden, 1, cells);
          Gates(rows * kLanes, PanelSums::kVector, sums, cells, cells, h);
          T* const gates = b.gates + row * kGates * s_.hidden;
          non_temporal_ ? part.To<true>(sums, kGates, gates) : part.To(sums, kGates, gates);
          part.To(cells, 1, b.cells + row * s_.hidden);
          part.To(h, 1, b.to + row * s_.hidden);
        });
    if (non_temporal_) FinishNonTemporal();
  }

  static constexpr int64_t kLanes = PanelSums::kLanes;
  bool NonTemporal(const T* gates) const {
    const int64_t elements = s_.rows * kGates * s_.hidden;
    return elements >= kNonTemporalBytes / static_cast<int64_t>(sizeof(T)) &&
           s_.hidden % kLanes == 0 && reinterpret_cast<uintptr_t>(gates) % kSimdBytes == 0;
  }

  PanelPart Part(int64_t panel, int64_t rows) const {
    const int64_t first = panels_.UnitBegin(panel);
    return {rows, first, panels_.UnitBegin(panel + 1) - first, s_.hidden};
  }

  const Sizes& s_;
  const InputSums<T>& input_;
  const Panels<T>& panels_;
  const bool at_once_, non_temporal_;
};

}  // namespace firn::cpu::lstm

#endif  // FIRN_TENSOR_KERNELS_CPU_LSTM_STEPS_H_
