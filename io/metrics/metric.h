#ifndef FIRN_IO_METRICS_METRIC_H_
#define FIRN_IO_METRICS_METRIC_H_

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "firn/io/metrics/merge_ranks.h"
#include "firn/io/metrics/running_mean.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// A type with Update(predictions, targets), Value() and Reset(), like all metrics of this folder.
template <class M>
concept MetricClass = std::copy_constructible<M> && requires(M m, const Tensor& t) {
  m.Update(t, t);
  m.Value();
  m.Reset();
};

// Metric itself is excluded first, since the conditions would depend on themselves for it.
namespace internal {
template <class M, class Metric>
concept NumberMetric = (!std::same_as<M, Metric>)&&MetricClass<M>&& requires(const M& m) {
  { m.Value() } -> std::convertible_to<double>;
};
template <class F, class Metric>
concept MetricOfBatch = (!std::same_as<F, Metric>)&&(
    !MetricClass<F>)&&std::is_invocable_r_v<double, F&, const Tensor&, const Tensor&>;
}  // namespace internal

// A metric of any kind, as Evaluate and Fit take one:
//
//   Evaluate(net, test, {.metric = io::R2()});
//   Evaluate(net, test, {.metric = io::MeanIou({.classes = 21})});
//   // One of several values.
//   Evaluate(net, test, {.metric = {io::PrecisionRecall({.classes = 3}),
//                                   [](const auto& m) { return m.Value().f1; }}});
//   // The mean over batches, by their samples.
//   Evaluate(net, test, {.metric = [](const Tensor& y, const Tensor& t) {
//     return Mean(Abs(y - t)).Item();
//   }});
//
// A metric sees all samples and is asked once at the end, so that its value does not depend on how
// they are cut into batches; a function is called for each batch, which is right only for values
// that are means over samples. Copies share nothing. Thread-compatible.
class Metric {
 public:
  Metric() = default;  // none
  template <class M>
  requires internal::NumberMetric<M, Metric> Metric(M metric)  // NOLINT: implicit
      : Metric(std::move(metric), [](const M& m) { return static_cast<double>(m.Value()); }) {}
  template <MetricClass M, class F>
  requires std::is_invocable_r_v<double, F, const M&> Metric(M metric, F value)
      : kind_(std::make_unique<Kind<M, F>>(std::move(metric), std::move(value))) {}
  template <class F>
  requires internal::MetricOfBatch<F, Metric> Metric(F function)  // NOLINT: implicit
  {
    // `{}` has always meant no metric.
    if constexpr (std::same_as<F, std::function<double(const Tensor&, const Tensor&)>>) {
      if (function == nullptr) return;
    }
    *this = Metric(MeanOf{std::move(function), {}, 1});
  }
  Metric(const Metric& other) : kind_(other.kind_ ? other.kind_->Copy() : nullptr) {}
  Metric(Metric&&) noexcept = default;
  Metric& operator=(Metric other) noexcept {
    kind_ = std::move(other.kind_);
    return *this;
  }

  // Whether there is a metric.
  explicit operator bool() const { return kind_ != nullptr; }
  // Counts a batch of `samples` samples. Throws what the metric throws. This and all functions
  // below require that there is a metric.
  void Update(const Tensor& predictions, const Tensor& targets, double samples) {
    kind_->Update(predictions, targets, samples);
  }
  double Value() const { return kind_->Value(); }
  void Reset() { kind_->Reset(); }
  // Like the function MergeRanks. Throws kInvalidArgument for a metric that it does not take.
  Metric MergeRanks(comm::Communicator& ranks) const {
    Metric all;
    all.kind_ = kind_->MergeRanks(ranks);
    return all;
  }

 private:
  struct AnyKind {
    virtual ~AnyKind() = default;
    virtual std::unique_ptr<AnyKind> Copy() const = 0;
    virtual void Update(const Tensor& predictions, const Tensor& targets, double samples) = 0;
    virtual double Value() const = 0;
    virtual void Reset() = 0;
    virtual std::unique_ptr<AnyKind> MergeRanks(comm::Communicator& ranks) const = 0;
  };
  // The mean of a function's values.
  struct MeanOf {
    void Update(const Tensor& predictions, const Tensor& targets) {
      mean.Update(function(predictions, targets), samples);
    }
    double Value() const { return mean.Value(); }
    void Reset() { mean.Reset(); }
    void Merge(const MeanOf& other) { mean.Merge(other.mean); }
    template <class V>
    void VisitNumbers(V& v) {
      mean.VisitNumbers(v);
    }
    std::function<double(const Tensor&, const Tensor&)> function;
    RunningMean mean;
    double samples;  // of the batch that comes next
  };
  template <class M, class F>
  struct Kind final : AnyKind {
    Kind(M m, F f) : metric(std::move(m)), value(std::move(f)) {}
    std::unique_ptr<AnyKind> Copy() const override { return std::make_unique<Kind>(*this); }
    void Update(const Tensor& predictions, const Tensor& targets,
                [[maybe_unused]] double samples) override {
      if constexpr (std::same_as<M, MeanOf>) metric.samples = samples;
      metric.Update(predictions, targets);
    }
    double Value() const override { return value(metric); }
    void Reset() override { metric.Reset(); }
    std::unique_ptr<AnyKind> MergeRanks([[maybe_unused]] comm::Communicator& ranks) const override {
      if constexpr (internal::RankedMetric<M>) {
        return std::make_unique<Kind>(io::MergeRanks(metric, ranks), value);
      } else {
        internal::RefuseRanks();
      }
    }
    M metric;
    F value;
  };

  std::unique_ptr<AnyKind> kind_;
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_METRIC_H_
