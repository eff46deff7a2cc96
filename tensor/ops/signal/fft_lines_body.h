#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_LINES_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_LINES_BODY_H_

// Which lines of a tensor are transformed together, and the plans for them, on the CPU: a cache
// line's worth of lines side by side (fft_body.h), unless they are long, or there is one alone, or
// one whose numbers lie side by side is as fast alone.

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <type_traits>

#include "firn/device/simd.h"
#include "firn/device/simd_transpose.h"
#include "firn/tensor/kernels/cpu/parts.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/signal/fft_body.h"

namespace firn::cpu {

// --- Plans ---------------------------------------------------------------------------------------

// The plans used last, for all threads.
template <class Plan>
class PlanCache {
 public:
  std::shared_ptr<const Plan> For(int64_t n) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (Entry& e : entries_) {
        if (e.plan == nullptr || e.plan->size() != n) continue;
        e.used = ++clock_;
        return e.plan;
      }
    }
    auto plan = std::make_shared<const Plan>(n);  // which takes its time
    if (n > kLongest) return plan;
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry& oldest = *std::min_element(entries_.begin(), entries_.end(),
                                      [](auto& a, auto& b) { return a.used < b.used; });
    oldest = {plan, ++clock_};
    return plan;
  }

 private:
  static constexpr int64_t kLongest = 1 << 18;  // some megabytes, for large primes some tens
  struct Entry {
    std::shared_ptr<const Plan> plan;
    uint64_t used = 0;
  };
  std::mutex mutex_;
  std::array<Entry, 16> entries_;
  uint64_t clock_ = 0;
};

template <class Plan>
std::shared_ptr<const Plan> PlanFor(int64_t n) {
  static PlanCache<Plan>& cache = *new PlanCache<Plan>;  // lives as long as any thread
  return cache.For(n);
}

// --- Lines ---------------------------------------------------------------------------------------

// The lines along a dimension, where what follows it is `inner` numbers: line l has its numbers
// `inner` apart.
struct FftLines {
  int64_t count, inner;
  int64_t First(int64_t line, int64_t length) const {
    return line / inner * length * inner + line % inner;
  }
};
inline FftLines LinesAround(const Shape& s, int rank, int dim) {
  FftLines l{1, 1};
  for (int d = 0; d < rank; ++d) {
    if (d == dim) continue;
    l.count *= s[d];
    if (d > dim) l.inner *= s[d];
  }
  return l;
}

// How the lines of a call are cut into pieces of work.
template <class T>
struct FftWork {
  FftWork(const FftLines& lines, int64_t buffer, double flops, bool fast_alone)
      : lanes(lines.count > 1 && buffer <= kLongLine && !(fast_alone && lines.inner == 1)
                  ? kLanesOf<T>
                  : 1),
        groups((lines.count + lanes - 1) / lanes),
        part(static_cast<size_t>(4 * buffer * lanes) * sizeof(T)),
        grain(std::max<int64_t>(1, static_cast<int64_t>(40000 / (flops * lanes + 1)))) {
    // Scratch of all parts together stays moderate.
    constexpr size_t kMost = 64 << 20;
    const auto most = static_cast<int64_t>(std::max<size_t>(1, kMost / std::max<size_t>(part, 1)));
    grain = std::max(grain, (groups + most - 1) / most);
  }
  int lanes;
  int64_t groups;
  size_t part;  // bytes of scratch
  int64_t grain;
  size_t workspace() const { return static_cast<size_t>(NumParts(groups, grain)) * part; }
};

// Calls f(first line, how many, a, b) with buffers for each group of kLanes lines.
template <int kLanes, class T, class F>
void ForEachGroup(const FftWork<T>& work, const FftLines& lines, int64_t buffer, void* workspace,
                  const F& f) {
  ForEachPart(work.groups, work.grain, [&](int64_t part, int64_t begin, int64_t end) {
    T* const own = static_cast<T*>(workspace) + part * 4 * buffer * kLanes;
    const int64_t size = buffer * kLanes;
    const SplitComplex<T> a{own, own + size}, b{own + 2 * size, own + 3 * size};
    for (int64_t g = begin; g < end; ++g) {
      const int64_t line = g * kLanes;
      f(line, static_cast<int>(std::min<int64_t>(kLanes, lines.count - line)), a, b);
    }
  });
}

// The lines of a group: where their first numbers are, in units of `parts` elements.
template <int kLanes>
struct LanePlaces {
  LanePlaces(const FftLines& lines, int64_t line, int count, int64_t length, int64_t parts)
      : inner(lines.inner), side_by_side(count == kLanes && line % inner + kLanes <= inner) {
    for (int l = 0; l < kLanes; ++l) {  // lanes beyond the last line repeat it
      first[l] = parts * lines.First(line + std::min(l, count - 1), length);
    }
  }
  int64_t first[kLanes];
  int64_t inner;
  bool side_by_side;  // the first numbers of all lanes
};

// The number that stands at place(i) + lane of buffers, for all i < n, is number i of the lane's
// line; lines have theirs side by side.
template <int kLanes, class T, class Place>
void ReadRows(const T* x, const LanePlaces<kLanes>& lanes, int64_t n, const Place& place) {
  constexpr int64_t kSide = kSimdLanes<T>;
  int64_t t = 0;
  for (; kLanes > 1 && t + kSide <= n; t += kSide) {
    for (int64_t l = 0; l < kLanes; l += kSide) {
      inner::internal::TransposeSquare<T>([&](int i) { return x + lanes.first[l + i] + t; },
                                          [&](int i) { return place(t + i) + l; });
    }
  }
  for (; t < n; ++t) {
    for (int l = 0; l < kLanes; ++l) place(t)[l] = x[lanes.first[l] + t];
  }
}
// The other way, times `factor`, which buffers are too then.
template <int kLanes, class T, class Place>
void WriteRows(T* y, const LanePlaces<kLanes>& lanes, int64_t n, T factor, const Place& place) {
  constexpr int64_t kSide = kSimdLanes<T>;
  int64_t t = 0;
  for (; kLanes > 1 && t + kSide <= n; t += kSide) {
    for (int64_t l = 0; l < kLanes; l += kSide) {
      for (int64_t i = 0; i < kSide; ++i) {
        T* const row = place(t + i) + l;
        for (int64_t j = 0; j < kSide; ++j) row[j] *= factor;
      }
      inner::internal::TransposeSquare<T>([&](int i) { return place(t + i) + l; },
                                          [&](int i) { return y + lanes.first[l + i] + t; });
    }
  }
  for (; t < n; ++t) {
    for (int l = 0; l < kLanes; ++l) y[lanes.first[l] + t] = factor * place(t)[l];
  }
}

// Pairs of numbers, the first of which is `pair` numbers behind that of the pair before and `part`
// before the second, are real and imaginary parts in `a`.
template <int kLanes, class T>
void ReadPairs(const T* x, const LanePlaces<kLanes>& lanes, int64_t pairs, int64_t part,
               SplitComplex<T> a) {
  const int64_t pair = 2 * lanes.inner;
  if (kLanes > 1 && pair == 2) {
    ReadRows<kLanes>(x, lanes, 2 * pairs,
                     [&](int64_t i) { return (i % 2 == 0 ? a.re : a.im) + i / 2 * kLanes; });
  } else if (kLanes == 1 && pair == 2) {
    x += lanes.first[0];
    FIRN_INDEPENDENT_STEPS
    for (int64_t t = 0; t < pairs; ++t) a.re[t] = x[2 * t], a.im[t] = x[2 * t + 1];
  } else if (lanes.side_by_side) {
    const int64_t apart = part == 1 ? 2 : 1;
    for (int64_t t = 0; t < pairs; ++t) {
      const T* const from = x + lanes.first[0] + t * pair;
      T *const re = a.re + t * kLanes, *const im = a.im + t * kLanes;
      FIRN_INDEPENDENT_STEPS
      for (int l = 0; l < kLanes; ++l) re[l] = from[l * apart], im[l] = from[l * apart + part];
    }
  } else {
    for (int64_t t = 0; t < pairs; ++t) {
      for (int l = 0; l < kLanes; ++l) {
        a.re[t * kLanes + l] = x[lanes.first[l] + t * pair];
        a.im[t * kLanes + l] = x[lanes.first[l] + t * pair + part];
      }
    }
  }
}
// The other way, times `factor`.
template <int kLanes, class T>
void WritePairs(T* y, const LanePlaces<kLanes>& lanes, int64_t pairs, int64_t part, T factor,
                SplitComplex<T> a) {
  const int64_t pair = 2 * lanes.inner;
  if (kLanes > 1 && pair == 2) {
    WriteRows<kLanes>(y, lanes, 2 * pairs, factor,
                      [&](int64_t i) { return (i % 2 == 0 ? a.re : a.im) + i / 2 * kLanes; });
  } else if (kLanes == 1 && pair == 2) {
    y += lanes.first[0];
    FIRN_INDEPENDENT_STEPS
    for (int64_t t = 0; t < pairs; ++t) {
      y[2 * t] = factor * a.re[t];
      y[2 * t + 1] = factor * a.im[t];
    }
  } else if (lanes.side_by_side) {
    const int64_t apart = part == 1 ? 2 : 1;
    for (int64_t t = 0; t < pairs; ++t) {
      T* const to = y + lanes.first[0] + t * pair;
      const T *const re = a.re + t * kLanes, *const im = a.im + t * kLanes;
      FIRN_INDEPENDENT_STEPS
      for (int l = 0; l < kLanes; ++l) {
        to[l * apart] = factor * re[l];
        to[l * apart + part] = factor * im[l];
      }
    }
  } else {
    for (int64_t t = 0; t < pairs; ++t) {
      for (int l = 0; l < kLanes; ++l) {  // of which some may be the same line
        y[lanes.first[l] + t * pair] = factor * a.re[t * kLanes + l];
        y[lanes.first[l] + t * pair + part] = factor * a.im[t * kLanes + l];
      }
    }
  }
}

// The same for lines of real numbers one by one.
template <int kLanes, class T>
void ReadLines(const T* x, const LanePlaces<kLanes>& lanes, int64_t n, T* a) {
  if (lanes.inner == 1) {
    return ReadRows<kLanes>(x, lanes, n, [&](int64_t t) { return a + t * kLanes; });
  }
  for (int64_t t = 0; t < n; ++t) {
    for (int l = 0; l < kLanes; ++l) a[t * kLanes + l] = x[lanes.first[l] + t * lanes.inner];
  }
}
template <int kLanes, class T>
void WriteLines(T* y, const LanePlaces<kLanes>& lanes, int64_t n, T factor, T* a) {
  if (lanes.inner == 1) {
    return WriteRows<kLanes>(y, lanes, n, factor, [&](int64_t t) { return a + t * kLanes; });
  }
  for (int64_t t = 0; t < n; ++t) {
    for (int l = 0; l < kLanes; ++l) {
      y[lanes.first[l] + t * lanes.inner] = factor * a[t * kLanes + l];
    }
  }
}

// What a kernel prepares for a call: the lines along dimension `dim` of the `rank` that count, of
// which a transform has `n` numbers.
template <class T, class Plan>
struct PreparedFft {
  PreparedFft(const Shape& x, int rank, int64_t dim, int64_t n)
      : lines(LinesAround(x, rank, static_cast<int>(dim < 0 ? dim + rank : dim))),
        plan(PlanFor<Plan>(n)),
        work(lines, plan->buffer(), plan->work(), plan->fast_alone()) {}
  // Whether lines are transformed where they are (Plan::RunAlone).
  bool alone() const { return plan->fast_alone() && lines.inner == 1; }
  FftLines lines;
  std::shared_ptr<const Plan> plan;
  FftWork<T> work;
};

template <template <class> class Plan>
absl::Status PrepareFor(DType dtype, const Shape& x, int rank, int64_t dim, int64_t n,
                        Prepared& answer) {
  const auto prepare = [&]<class T>(TypeTag<T>) {
    auto state = std::make_shared<const PreparedFft<T, Plan<T>>>(x, rank, dim, n);
    answer.workspace = state->work.workspace();
    answer.state = std::move(state);
  };
  dtype == DType::kF32 ? prepare(TypeTag<float>()) : prepare(TypeTag<double>());
  return absl::OkStatus();
}

// Calls f(TypeTag, state, lanes as a constant).
template <template <class> class Plan, class F>
absl::Status WithState(KernelContext& k, const F& f) {
  const auto run = [&]<class T>(TypeTag<T> tag) {
    const auto& p = k.state<PreparedFft<T, Plan<T>>>();
    if (p.work.lanes == 1) {
      f(tag, p, std::integral_constant<int, 1>());
    } else {
      f(tag, p, std::integral_constant<int, kLanesOf<T>>());
    }
  };
  k.in_spec(0).dtype == DType::kF32 ? run(TypeTag<float>()) : run(TypeTag<double>());
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_LINES_BODY_H_
