#ifndef FIRN_TENSOR_OPS_LOSS_CTC_LOSS_BODY_H_
#define FIRN_TENSOR_OPS_LOSS_CTC_LOSS_BODY_H_

// A sample's states are its labels with blanks before, between and behind them: 2 S + 1. A path
// stays, goes on by one state, or by two where the label between is a blank and the labels around
// it differ. alpha_t(s) is the logarithm of the probability of all beginnings of paths that are at
// s at time t, beta_t(s) that of all ends from there on, without time t itself (A. Graves et al.,
// 2006, section 4.1). e^(alpha + beta + loss) is the share of paths that are at s then.
//
// All in double: in float, a thousand steps leave few digits of such sums. A sample has rows of
// memory, each with a number for every state and two places before and behind that paths may not
// use, so that steps need no checks at the ends. A team shares a sample; a CPU's thread is a team
// of one.

#include <limits>

#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/loss/ctc_loss.h"

namespace firn::ctc {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();

// A team of one.
struct Alone {
  FIRN_HOST_DEVICE static constexpr int64_t rank() { return 0; }
  FIRN_HOST_DEVICE static constexpr int64_t size() { return 1; }
  template <class T, class Op>
  FIRN_HOST_DEVICE T Reduce(T value, const Op&) const {
    return value;
  }
  FIRN_HOST_DEVICE void Sync() const {}
};

struct Whole {
  const void* data;
  bool wide;  // i64, else i32

  FIRN_HOST_DEVICE int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
};
inline Whole WholeNumbers(const KernelContext& k, int i) {
  return {k.in<void>(i), k.in_spec(i).dtype == DType::kI64};
}

// The inputs of both operations, of which log_probs is number `first`.
struct Inputs {
  Inputs(const KernelContext& k, int first)
      : steps(k.in_spec(first).shape[0]),
        samples(k.in_spec(first).shape[1]),
        classes(k.in_spec(first).shape[2]),
        labels(k.in_spec(first + 1).num_elements()),
        padded(k.in_spec(first + 1).shape.rank() == 2),
        blank(k.attrs<CtcLossAttrs>().blank),
        targets(WholeNumbers(k, first + 1)),
        input_lengths(WholeNumbers(k, first + 2)),
        target_lengths(WholeNumbers(k, first + 3)) {}
  // Labels of a sample at most.
  FIRN_HOST_DEVICE int64_t longest() const {
    return !padded ? labels : samples == 0 ? 0 : labels / samples;
  }

  int64_t steps, samples, classes, labels;
  bool padded;  // targets [N, S], else behind one another
  int64_t blank;
  Whole targets, input_lengths, target_lengths;
};

// Numbers in `rows` rows of every sample. Sample n's begin at rows (2 first + 5 n), where `first`
// is the place of its first label.
inline size_t RowBytes(const TensorSpec& targets, int64_t samples, int64_t rows) {
  return static_cast<size_t>(rows * (2 * targets.num_elements() + 5 * samples)) * sizeof(double);
}

// The ranges of indices: steps and lengths in [0, T] and [0, S], classes in [0, C).
template <class Range>
struct Ranges {
  Range steps, lengths, classes;
};

// One sample. If `good` is false, its lengths are outside their ranges and the other members are
// invalid.
template <class T, class Range>
struct Sample {
  static constexpr int kAllow = 0, kEmit = 1, kAlpha = 2;

  const Inputs& in;
  const Ranges<Range>& ranges;
  const T* log_probs;
  int64_t n, steps, length, first, states;
  double* memory;
  bool good;

  FIRN_HOST_DEVICE Sample(const Inputs& inputs, const Ranges<Range>& r, const T* x, double* rows,
                          int64_t row_count, int64_t number)
      : in(inputs), ranges(r), log_probs(x), n(number), first(0) {
    Range lengths = r.lengths;
    if (in.padded) {
      first = n * in.longest();
    } else {
      for (int64_t i = 0; i < n; ++i) first += in.target_lengths[i];
      lengths.high = in.labels - first + 1;
    }
    steps = r.steps(in.input_lengths[n]);
    length = lengths(in.target_lengths[n]);
    good = steps >= 0 && length >= 0 && first >= 0;
    states = 2 * length + 1;
    memory = rows + row_count * (2 * first + 5 * n) + 2;
  }
  // Row i, from its first state on.
  FIRN_HOST_DEVICE double* row(int64_t i) const { return memory + i * (states + 4); }
  FIRN_HOST_DEVICE int64_t label(int64_t j) const { return in.targets[first + j]; }
  FIRN_HOST_DEVICE int64_t offset(int64_t t) const { return (t * in.samples + n) * in.classes; }

  template <class Team>
  FIRN_HOST_DEVICE void Fill(const Team& team, double* to) const {
    for (int64_t s = team.rank() - 2; s < states + 2; s += team.size()) to[s] = kNever;
  }

  // Row kAllow: 0 for states that a path may come to from two before, also from the place before
  // the first state and to that behind the last one, else minus infinity.
  template <class Team>
  FIRN_HOST_DEVICE void Allow(const Team& team) const {
    double* const allow = row(kAllow);
    for (int64_t s = team.rank() - 2; s < states + 2; s += team.size()) {
      bool open = s == 1 || s == states;
      if (s % 2 == 1 && s >= 3 && s < states) open = label(s / 2) != label(s / 2 - 1);
      allow[s] = open ? 0.0 : kNever;
    }
  }

  // Row kEmit: the log probability of every state's class at time t; NaN for a label that is not a
  // class.
  template <class Team>
  FIRN_HOST_DEVICE void Emit(const Team& team, int64_t t) const {
    double* const emit = row(kEmit);
    const T* const x = log_probs + offset(t);
    const double blank = static_cast<double>(x[in.blank]);
    for (int64_t s = team.rank(); s < states; s += team.size()) {
      double v = blank;
      if (s % 2 == 1) {
        const int64_t c = ranges.classes(label(s / 2));
        v = c < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(x[c]);
      }
      emit[s] = v;
    }
  }

  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static double LogOfSum(double a, double b, double c) {
    const double ab = a < b ? b : a, most = ab < c ? c : ab, top = most == kNever ? 0.0 : most;
    return top + math::Log(math::Exp(a - top) + math::Exp(b - top) + math::Exp(c - top));
  }

  // alpha of all times, in rows kAlpha + 0 (before time 0, when a path stands before its first
  // state), 1, ... or, unless they are kept, in turns in two of them. The loss.
  template <class Team>
  FIRN_HOST_DEVICE double Forward(const Team& team, bool keep) const {
    Allow(team);
    Fill(team, row(kAlpha));
    team.Sync();
    if (team.rank() == 0) row(kAlpha)[-1] = 0;
    team.Sync();
    const auto row_of = [&](int64_t i) { return row(kAlpha + (keep ? i : i % 2)); };
    for (int64_t t = 0; t < steps; ++t) {
      Emit(team, t);
      const double *const from = row_of(t), *const emit = row(kEmit), *const allow = row(kAllow);
      double* const to = row_of(t + 1);
      FIRN_INDEPENDENT_STEPS
      for (int64_t s = team.rank(); s < states; s += team.size()) {
        to[s] = emit[s] + LogOfSum(from[s], from[s - 1], from[s - 2] + allow[s]);
      }
      if (team.rank() == 0) to[-2] = to[-1] = kNever;
      team.Sync();
    }
    const double* const last = row_of(steps);
    return -LogOfSum(last[states - 1], last[states - 2], kNever);
  }
};

template <class T, class Range>
struct LossBody {
  static constexpr int64_t kRows = 4;

  Inputs in;
  Ranges<Range> ranges;
  const T* log_probs;
  T* losses;
  double* memory;
  bool zero_infinity;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t n) const {
    const Sample<T, Range> sample(in, ranges, log_probs, memory, kRows, n);
    double loss = std::numeric_limits<double>::quiet_NaN();
    if (sample.good) loss = sample.Forward(team, false);
    if (zero_infinity && loss == -kNever) loss = 0;
    if (team.rank() == 0) losses[n] = static_cast<T>(static_cast<AccumulatorOf<T>>(loss));
  }
  int64_t cost() const { return in.steps * (2 * in.longest() + 1) * 8; }
};

template <class T, class Range>
struct GradBody {
  // Rows besides those of alpha: two of beta, one of shares and one that links equal labels.
  FIRN_HOST_DEVICE static constexpr int64_t Rows(int64_t steps) { return steps + 7; }
  using Acc = AccumulatorOf<T>;
  using SampleOf = Sample<T, Range>;

  Inputs in;
  Ranges<Range> ranges;
  const T *dy, *log_probs;
  T* dx;
  double* memory;
  bool zero_infinity;

  struct Plus {
    FIRN_HOST_DEVICE double operator()(double a, double b) const { return a + b; }
  };

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t n) const {
    const SampleOf sample(in, ranges, log_probs, memory, Rows(in.steps), n);
    if (!sample.good) return Fill(team, sample, 0, std::numeric_limits<Acc>::quiet_NaN());
    const double loss = sample.Forward(team, true);
    const bool left_out = zero_infinity && loss == -kNever;
    Fill(team, sample, left_out ? 0 : sample.steps, Acc{0});
    if (!left_out) Backward(team, sample, loss);
  }

  // The gradient of all times from `first` on.
  template <class Team>
  FIRN_HOST_DEVICE void Fill(const Team& team, const SampleOf& sample, int64_t first,
                             Acc value) const {
    for (int64_t t = first; t < in.steps; ++t) {
      T* const to = dx + sample.offset(t);
      for (int64_t c = team.rank(); c < in.classes; c += team.size()) to[c] = static_cast<T>(value);
    }
  }

  // In `links`, for label j, at 2 j the next place of the same label or -1, and at 2 j + 1 whether
  // it is the first: so that one member writes each class once, always in the same order.
  template <class Team>
  FIRN_HOST_DEVICE void Link(const Team& team, const SampleOf& sample, double* links) const {
    for (int64_t j = team.rank(); j < sample.length; j += team.size()) {
      const int64_t c = sample.label(j);
      int64_t next = j + 1, before = j - 1;
      while (next < sample.length && sample.label(next) != c) ++next;
      while (before >= 0 && sample.label(before) != c) --before;
      links[2 * j] = next < sample.length ? static_cast<double>(next) : -1.0;
      links[2 * j + 1] = before < 0 ? 1.0 : 0.0;
    }
  }

  template <class Team>
  FIRN_HOST_DEVICE void Backward(const Team& team, const SampleOf& sample, double loss) const {
    const int64_t states = sample.states, after = SampleOf::kAlpha + in.steps + 1;
    double* const shares = sample.row(after + 2);
    double* const links = sample.row(after + 3);
    Link(team, sample, links);
    sample.Fill(team, sample.row(after + sample.steps % 2));
    team.Sync();
    if (team.rank() == 0) sample.row(after + sample.steps % 2)[states] = 0;
    team.Sync();
    for (int64_t t = sample.steps - 1; t >= 0; --t) {
      sample.Emit(team, t);
      // Both include the probability of their own time.
      const double* const from = sample.row(after + (t + 1) % 2);
      double* const to = sample.row(after + t % 2);
      const double* const alpha = sample.row(SampleOf::kAlpha + t + 1);
      const double *const emit = sample.row(SampleOf::kEmit), *const allow = sample.row(0);
      FIRN_INDEPENDENT_STEPS
      for (int64_t s = team.rank(); s < states; s += team.size()) {
        const double beta = SampleOf::LogOfSum(from[s], from[s + 1], from[s + 2] + allow[s + 2]);
        to[s] = beta + emit[s];
        shares[s] = math::Exp(alpha[s] + beta + loss);
      }
      if (team.rank() == 0) to[states] = to[states + 1] = kNever;
      Write(team, sample, t, shares, links);
    }
  }

  // The gradient of time t from the shares of paths at each state.
  template <class Team>
  FIRN_HOST_DEVICE void Write(const Team& team, const SampleOf& sample, int64_t t,
                              const double* shares, const double* links) const {
    const double scale = -static_cast<double>(dy[sample.n]);
    T* const to = dx + sample.offset(t);
    for (int64_t c = team.rank(); c < in.classes; c += team.size()) to[c] = static_cast<T>(Acc{0});
    team.Sync();
    double blanks = 0;
    for (int64_t j = team.rank(); j <= sample.length; j += team.size()) blanks += shares[2 * j];
    blanks = team.Reduce(blanks, Plus());
    if (team.rank() == 0) to[in.blank] = static_cast<T>(static_cast<Acc>(scale * blanks));
    for (int64_t j = team.rank(); j < sample.length; j += team.size()) {
      const int64_t c = ranges.classes(sample.label(j));
      if (links[2 * j + 1] == 0 || c < 0) continue;
      double sum = 0;
      for (int64_t i = j; i >= 0; i = static_cast<int64_t>(links[2 * i])) sum += shares[2 * i + 1];
      to[c] = static_cast<T>(static_cast<Acc>(scale * sum));
    }
    team.Sync();
  }

  int64_t cost() const { return in.steps * ((2 * in.longest() + 1) * 24 + in.classes); }
};

}  // namespace firn::ctc

#endif  // FIRN_TENSOR_OPS_LOSS_CTC_LOSS_BODY_H_
