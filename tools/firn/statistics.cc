#include "tools/firn/statistics.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace firn::cli {

void Statistics::Add(const Tensor& t) {
  for (const double v : t.ToVector<double>()) {
    if (std::isnan(v) || std::isinf(v)) {
      ++(std::isnan(v) ? nan_ : infinite_);
      continue;
    }
    least_ = std::min(least_, v);
    most_ = std::max(most_, v);
    // Welford's: differences of large sums would lose the deviation.
    const double step = v - mean_;
    mean_ += step / static_cast<double>(++finite_);
    squares_ += step * (v - mean_);
  }
}

void Statistics::AddTo(nlohmann::json* j) const {
  j->update({{"nan", nan_}, {"infinite", infinite_}});
  if (finite_ == 0) return;
  j->update({{"min", least_},
             {"max", most_},
             {"mean", mean_},
             {"std", std::sqrt(squares_ / static_cast<double>(finite_))}});
}

void Statistics::AddTo(std::vector<std::string>* line) const {
  const auto number = [&](double v) { return finite_ > 0 ? absl::StrFormat("%.4g", v) : "-"; };
  std::string odd;
  if (nan_ > 0) odd = absl::StrCat(nan_, " NaN");
  if (infinite_ > 0) absl::StrAppend(&odd, odd.empty() ? "" : ", ", infinite_, " infinite");
  const double deviation = finite_ > 0 ? std::sqrt(squares_ / static_cast<double>(finite_)) : 0;
  line->insert(line->end(), {number(least_), number(most_), number(mean_), number(deviation), odd});
}

}  // namespace firn::cli
