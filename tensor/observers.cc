// Histograms begin as wide as the first batch and double their width towards numbers outside, so
// that numbers need not be kept and later batches count as much as the first.

#include "firn/tensor/observers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {

Quantization QuantizationOf(inner::Real low, inner::Real high, const QuantizationOptions& o) {
  const double from = low, to = high;
  if (!(from <= to) || std::isinf(from) || std::isinf(to)) {
    RaiseStatus(InvalidArgument("expected numbers low <= high, got ", from, " and ", to),
                "QuantizationOf");
  }
  if (o.dtype != DType::kI8 && o.dtype != DType::kU8) {
    RaiseStatus(InvalidArgument("dtype must be i8 or u8, got ", DTypeName(o.dtype)),
                "QuantizationOf");
  }
  const int64_t least = o.dtype == DType::kI8 ? -128 : 0;
  const double below = std::min(from, 0.0), above = std::max(to, 0.0);
  Quantization q{1, least + 128, o.dtype};
  if (o.symmetric) {
    const double most = std::max(-below, above);
    if (most > 0) q.scale = most / 127;
  } else if (above > below) {
    // Halves come first, because the difference of the largest numbers is infinite.
    q.scale = (above / 2 - below / 2) / 127.5;
    q.zero_point = least + std::llround(-below / q.scale);
  }
  // Scales below the smallest number of f32 would be 0 there.
  q.scale = std::max(q.scale, static_cast<double>(std::numeric_limits<float>::min()));
  q.zero_point = std::clamp(q.zero_point, least, least + 255);
  return q;
}

void RangeObserver::Observe(const Tensor& x) {
  std::vector<double> finite = x.ToVector<double>();
  finite.erase(
      std::remove_if(finite.begin(), finite.end(), [](double v) { return !std::isfinite(v); }),
      finite.end());
  if (finite.empty()) return;
  Add(finite);
  seen_ = true;
}

RangeObserver::Range RangeObserver::range() const {
  if (!seen_) RaiseStatus(FailedPrecondition("no number was observed"), "RangeObserver");
  return Find();
}

Quantization RangeObserver::Choose(const QuantizationOptions& options) const {
  const Range r = range();
  return QuantizationOf(r.low, r.high, options);
}

void MinMaxObserver::Add(const std::vector<double>& finite) {
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  range_ =
      any_ ? Range{std::min(range_.low, *low), std::max(range_.high, *high)} : Range{*low, *high};
  any_ = true;
}

// Joins neighbours; the freed intervals lie below or above.
void HistogramObserver::Widen(bool down) {
  std::vector<double> joined(kBins, 0.0);
  const int64_t first = down ? kBins / 2 : 0;
  for (int64_t i = 0; i < kBins; ++i) {
    joined[static_cast<size_t>(first + i / 2)] += counts_[static_cast<size_t>(i)];
  }
  if (down) low_ -= static_cast<double>(kBins) * width_;
  width_ *= 2;
  counts_ = std::move(joined);
}

void HistogramObserver::Add(const std::vector<double>& finite) {
  const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
  if (counts_.empty()) {
    counts_.assign(kBins, 0.0);
    extremes_ = {*least, *most};
    // For equal numbers the width is their own size, and it is never 0 or denormal. Computed in
    // halves, because a difference may be infinite.
    constexpr double kLeast = 1e-290;
    const double span = *most / 2 - *least / 2;
    const double size = std::max(span > 0 ? span : std::max(std::abs(*least), 1e-30), kLeast);
    low_ = *least;
    width_ = size / (static_cast<double>(kBins) / 2 - 1);
  }
  extremes_ = {std::min(extremes_.low, *least), std::max(extremes_.high, *most)};
  while (*least < low_) Widen(true);
  while (*most >= edge(kBins)) Widen(false);
  for (const double v : finite) {
    // Clamped first, because the end of the last interval is rounded.
    const double at = (v / 2 - low_ / 2) / (width_ / 2);
    const double bin = std::clamp(at, 0.0, static_cast<double>(kBins - 1));
    counts_[static_cast<size_t>(bin)] += 1;
  }
  total_ += static_cast<double>(finite.size());
}

PercentileObserver::PercentileObserver(inner::Real percentile) : percentile_(percentile) {
  if (!(percentile_ > 0 && percentile_ <= 100)) {
    RaiseStatus(InvalidArgument("percentile must lie in (0, 100], got ", percentile_),
                "PercentileObserver");
  }
}

RangeObserver::Range PercentileObserver::Find() const {
  const double cut = total() * (1 - percentile_ / 100) / 2;
  Range r = extremes();
  double below = 0;
  for (int64_t i = 0; i < kBins; ++i) {
    below += counts()[static_cast<size_t>(i)];
    if (below <= cut) continue;
    r.low = std::max(r.low, edge(i));
    break;
  }
  double above = 0;
  for (int64_t i = kBins - 1; i >= 0; --i) {
    above += counts()[static_cast<size_t>(i)];
    if (above <= cut) continue;
    r.high = std::min(r.high, edge(i + 1));
    break;
  }
  return r;
}

MseObserver::MseObserver(inner::Integer bits) : bits_(bits) {
  if (bits_ < 2 || bits_ > 16) {
    RaiseStatus(InvalidArgument("bits must be between 2 and 16, got ", bits_), "MseObserver");
  }
}

double MseObserver::Error(const Range& r) const {
  const double levels = std::ldexp(1.0, static_cast<int>(bits_)) - 1;
  const double scale = (r.high - r.low) / levels;
  double sum = 0;
  for (int64_t i = 0; i < kBins; ++i) {
    const double count = counts()[static_cast<size_t>(i)];
    if (count == 0) continue;
    const double x = center(i), held = std::clamp(x, r.low, r.high);
    const double error = r.low + std::round((held - r.low) / scale) * scale - x;
    sum += count * error * error;
  }
  return sum;
}

RangeObserver::Range MseObserver::Find() const {
  const Range all = {std::min(extremes().low, 0.0), std::max(extremes().high, 0.0)};
  Range best = all;
  if (!(all.high > all.low)) return best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 100; i > 0; --i) {
    const Range part = {all.low * i / 100, all.high * i / 100};
    const double error = Error(part);
    if (error < least) {
      least = error;
      best = part;
    }
  }
  return best;
}

}  // namespace firn
