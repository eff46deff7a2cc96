#include "tools/firn/statistics.h"

#include <algorithm>
#include <cmath>

#include "tensor/dispatch.h"
#include "tensor/ops.h"

namespace firn::cli {

void Statistics::Add(double value) {
  if (std::isnan(value) || std::isinf(value)) {
    ++(std::isnan(value) ? nan_ : infinite_);
    return;
  }
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
  // Welford's: differences of large sums would lose the deviation.
  const double step = value - mean_;
  mean_ += step / static_cast<double>(++finite_);
  squares_ += step * (value - mean_);
}

double Statistics::deviation() const {
  return finite_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(finite_));
}

Statistics StatisticsOf(const Tensor& t) {
  constexpr int64_t kPiece = 1 << 16;
  Statistics s;
  const NoGradScope no_grad;
  const Tensor flat = t.Flatten();
  for (int64_t at = 0; at < flat.num_elements(); at += kPiece) {
    const Tensor piece = Slice(flat, 0, at, std::min(at + kPiece, flat.num_elements()));
    for (const double value : piece.ToVector<double>()) s.Add(value);
  }
  return s;
}

}  // namespace firn::cli
