#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_LINES_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_LINES_BODY_H_

// Which lines of a tensor are transformed together, and the plans for them, on the CPU: a
// register's worth of lines side by side (fft_body.h), unless they are long or one alone.

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <type_traits>

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
  static constexpr int64_t kLongest = 1 << 18;  // some megabytes
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

// Lanes of T, and up to how many numbers a line has to be one of them.
template <class T>
constexpr int kLanesOf = 64 / sizeof(T);
constexpr int64_t kLongLine = 16384;

// How the lines of a call are cut into pieces of work.
template <class T>
struct FftWork {
  FftWork(const FftLines& lines, int64_t buffer, double flops)
      : lanes(lines.count > 1 && buffer <= kLongLine ? kLanesOf<T> : 1),
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

// What a kernel prepares for a call: the lines along dimension `dim` of the `rank` that count, of
// which a transform has `n` numbers.
template <class T, class Plan>
struct PreparedFft {
  PreparedFft(const Shape& x, int rank, int64_t dim, int64_t n)
      : lines(LinesAround(x, rank, static_cast<int>(dim < 0 ? dim + rank : dim))),
        plan(PlanFor<Plan>(n)),
        work(lines, plan->buffer(), plan->work()) {}
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
