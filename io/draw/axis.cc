// Ticks are multiples of 1, 2 or 5 times a power of ten, the smallest step that gives no more of
// them than asked for; a logarithmic axis has them at powers of ten, and at 2 and 5 times these
// when it spans less than two.
#include "firn/io/draw/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/io/number_text.h"

namespace firn::io::draw {
namespace {

// A tenth of f64's range on each side: widths and margins cannot overflow.
constexpr double kLargest = 1e307;

double Step(double width, int ticks) {
  const double rough = width / ticks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis::Axis(const std::vector<double>& values, bool logarithmic, int ticks)
    : logarithmic_(logarithmic) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (double value : values) {
    if (!Shows(value)) continue;
    least = std::min(least, Scaled(value));
    largest = std::max(largest, Scaled(value));
  }
  if (least <= largest) {
    from_ = least;
    to_ = largest;
  }
  // A constant, or a range too narrow for f64 to divide, gets some room.
  const double magnitude = std::max(std::abs(from_), std::abs(to_));
  if (to_ - from_ <= magnitude * 1e-12 || to_ - from_ < 1e-300) {
    const double room = logarithmic ? 0.5 : std::max(magnitude * 0.05, magnitude == 0 ? 1 : 1e-299);
    from_ -= room;
    to_ += room;
  }
  logarithmic ? AddLogarithmicTicks(ticks) : AddLinearTicks(ticks);
}

bool Axis::Shows(double value) const {
  return std::isfinite(value) && !(logarithmic_ && value <= 0);
}

double Axis::Scaled(double value) const {
  return logarithmic_ ? std::log10(value) : std::clamp(value, -kLargest, kLargest);
}

double Axis::Place(double value) const { return (Scaled(value) - from_) / (to_ - from_); }

void Axis::AddLinearTicks(int ticks) {
  const double step = Step(to_ - from_, ticks);
  const double first = std::ceil(from_ / step - 1e-9);
  for (int i = 0; i <= ticks + 1; ++i) {
    const double value = (first + i) * step;
    const double at = (value - from_) / (to_ - from_);
    if (at > 1 + 1e-9) break;
    // The digits that tell two ticks apart, at most those of f64.
    const double digits = std::log10(std::max(std::abs(value), step) / step) + 1;
    const int shown = static_cast<int>(std::clamp(std::ceil(digits + 1e-9), 6.0, 15.0));
    ticks_.push_back({at, FormatNumber(value == 0 ? 0 : value, shown)});
  }
}

void Axis::AddLogarithmicTicks(int ticks) {
  const double width = to_ - from_;
  const double step = std::max(1.0, std::ceil(width / ticks));
  for (double power = std::floor(from_ / step) * step; power <= to_; power += step) {
    for (double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && width >= 2) break;
      const double at = (power + std::log10(factor) - from_) / width;
      if (at < -1e-9 || at > 1 + 1e-9) continue;
      ticks_.push_back({at, FormatNumber(factor * std::pow(10.0, power), 6)});
    }
  }
}

std::vector<double> Smoothed(const std::vector<double>& values, double smoothing) {
  std::vector<double> smooth;
  smooth.reserve(values.size());
  double average = 0, weight = 0;
  for (double value : values) {
    if (std::isfinite(value)) {
      average = smoothing * average + (1 - smoothing) * value;
      weight = smoothing * weight + (1 - smoothing);
      value = average / weight;
    }
    smooth.push_back(value);
  }
  return smooth;
}

}  // namespace firn::io::draw
