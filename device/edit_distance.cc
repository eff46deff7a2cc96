// Wagner and Fischer's table, a row at a time: before round i, row[j] is the distance between the
// first i - 1 characters of `a` and the first j of `b`.
#include "firn/device/edit_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace firn::inner::internal {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& names,
                                      size_t most) {
  constexpr size_t kLongest = 100;
  std::vector<std::pair<size_t, const std::string*>> near;
  for (const std::string& candidate : names) {
    if (candidate.size() > kLongest || name.size() > kLongest) continue;
    near.emplace_back(EditDistance(name, candidate), &candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < near.size() && i < most; ++i) nearest.push_back(*near[i].second);
  return nearest;
}

std::string InsteadOf(std::string_view name, const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  const std::vector<std::string> nearest = NearestNames(name, names, kMost);
  if (names.empty()) return "; there are none";
  std::string text =
      nearest.size() == names.size() ? "; there are " : "; of " + std::to_string(names.size());
  if (nearest.empty()) return text + ", none is like it";
  if (nearest.size() < names.size()) text += " the nearest are ";
  for (size_t i = 0; i < nearest.size(); ++i) text += (i == 0 ? "" : ", ") + nearest[i];
  return text;
}

std::string LikelyName(std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = NearestNames(name, names, 1);
  const bool likely = !nearest.empty() && EditDistance(name, nearest[0]) < name.size() / 3 + 2;
  return likely ? nearest[0] : "";
}

}  // namespace firn::inner::internal
