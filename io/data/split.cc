// Parts are pieces, one behind the other, of one order of all samples: no sample is in two, none is
// missing, and a part does not depend on how the samples before it are divided.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/dataset.h"
#include "firn/io/data/permutation.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

absl::Status CheckLengths(const std::vector<int64_t>& lengths, int64_t n) {
  int64_t left = n;
  for (const int64_t length : lengths) {
    if (length < 0 || length > left) {
      return InvalidArgument("lengths are ", absl::StrJoin(lengths, ", "),
                             " (want none negative, and a sum of ", n,
                             ", which is the size of the dataset)");
    }
    left -= length;
  }
  if (left == 0) return absl::OkStatus();
  return InvalidArgument("lengths are ", absl::StrJoin(lengths, ", "), ", whose sum is ", n - left,
                         " (want ", n, ", which is the size of the dataset)");
}

absl::Status CheckFractions(const std::vector<double>& fractions) {
  double sum = 0;
  bool positive = true;
  for (const double fraction : fractions) {
    positive = positive && fraction >= 0;  // false for NaN
    sum += fraction;
  }
  // Decimal fractions add up to 1 but for the rounding of each.
  if (positive && std::abs(sum - 1) <= 1e-9) return absl::OkStatus();
  return InvalidArgument("fractions are ", absl::StrJoin(fractions, ", "), ", whose sum is ", sum,
                         " (want none negative, and a sum of 1)");
}

// floor(n fraction) of each, and the samples that are left one by one from the first part on.
std::vector<int64_t> LengthsOf(const std::vector<double>& fractions, int64_t n) {
  std::vector<int64_t> lengths;
  int64_t left = n;
  for (const double fraction : fractions) {
    const auto length = static_cast<int64_t>(std::floor(static_cast<double>(n) * fraction));
    lengths.push_back(std::min(length, left));
    left -= lengths.back();
  }
  for (size_t i = 0; left > 0; ++i, --left) ++lengths[i % lengths.size()];
  return lengths;
}

}  // namespace

std::vector<DatasetPtr> Split(DatasetPtr dataset, const SplitOptions& options) {
  const auto raise = [](const absl::Status& status) {
    if (!status.ok()) RaiseStatus(status, "split");
  };
  if (dataset == nullptr) raise(InvalidArgument("the dataset is null"));
  if (options.fractions.empty() == options.lengths.empty()) {
    raise(InvalidArgument(options.lengths.empty()
                              ? "there are neither fractions nor lengths (want one of the two)"
                              : "there are both fractions and lengths (want one of the two)"));
  }
  const int64_t n = dataset->size();
  if (options.lengths.empty()) raise(CheckFractions(options.fractions));
  const std::vector<int64_t> lengths =
      options.lengths.empty() ? LengthsOf(options.fractions, n) : options.lengths;
  raise(CheckLengths(lengths, n));
  const std::vector<int64_t> order = options.shuffle ? Permutation(n, options.seed, 0) : InOrder(n);
  std::vector<DatasetPtr> parts;
  auto begin = order.begin();
  for (const int64_t length : lengths) {
    parts.push_back(Subset(dataset, std::vector<int64_t>(begin, begin + length)));
    begin += length;
  }
  return parts;
}

}  // namespace firn::io
