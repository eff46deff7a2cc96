#include "tools/firn/statistics.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"

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

void Statistics::Add(const Tensor& t) {
  constexpr int64_t kPiece = 1 << 16;
  const NoGradScope no_grad;
  const Tensor flat = t.Flatten();
  for (int64_t at = 0; at < flat.num_elements(); at += kPiece) {
    const Tensor piece = Slice(flat, 0, at, std::min(at + kPiece, flat.num_elements()));
    for (const double value : piece.ToVector<double>()) Add(value);
  }
}

double Statistics::deviation() const {
  return finite_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(finite_));
}

void Statistics::AddTo(nlohmann::json* j) const {
  j->update({{"nan", nan_}, {"infinite", infinite_}});
  if (finite_ == 0) return;
  j->update({{"min", least_}, {"max", most_}, {"mean", mean_}, {"std", deviation()}});
}

void Statistics::AddTo(std::vector<std::string>* line) const {
  const auto number = [&](double v) { return finite_ > 0 ? absl::StrFormat("%.4g", v) : "-"; };
  std::string odd;
  if (nan_ > 0) odd = absl::StrCat(nan_, " NaN");
  if (infinite_ > 0) absl::StrAppend(&odd, odd.empty() ? "" : ", ", infinite_, " infinite");
  line->insert(line->end(),
               {number(least_), number(most_), number(mean_), number(deviation()), odd});
}

}  // namespace firn::cli
