// A hostile heading may have very many columns and long names: they are found by a table, and only
// the first unknown name, which ends the reading, is compared with the others.
#include "firn/io/csv/internal/csv_columns.h"

#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

// Computing a distance takes time in proportion to the product of the lengths.
constexpr size_t kLongest = 100;
constexpr size_t kMost = 10'000;

// The name nearest to it; "" if there is none.
std::string Nearest(const std::string& name, const std::vector<std::string>& names) {
  std::string nearest;
  size_t least = ~size_t{0};
  if (name.size() > kLongest) return nearest;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) {
    if (names[i].size() > kLongest) continue;
    const size_t distance = firn::inner::internal::EditDistance(name, names[i]);
    if (distance < least) nearest = names[i], least = distance;
  }
  return nearest;
}

}  // namespace

std::string ToString(const CsvColumn& column) {
  return column.is_named() ? Shown(column.name()) : absl::StrCat(column.place());
}

ColumnFinder::ColumnFinder(const std::vector<Field>& first, bool heading) : size_(first.size()) {
  for (size_t i = 0; i < size_ && heading; ++i) {
    names_.push_back(WordOf(first[i]));
    const auto [at, is_new] = places_.try_emplace(names_[i], Places{i, i});
    if (!is_new && at->second.first == at->second.again) at->second.again = i;
  }
}

absl::StatusOr<size_t> ColumnFinder::Find(const CsvColumn& column, const std::string& who) const {
  if (!column.is_named()) {
    const int64_t place = column.place();
    FIRN_RETURN_IF(place < 0 || static_cast<size_t>(place) >= size_,
                   InvalidArgument("which has ", size_, " columns: ", who, " column ", place,
                                   " (want 0 to ", size_ - 1, ")"));
    return static_cast<size_t>(place);
  }
  const auto found = places_.find(column.name());
  if (found == places_.end()) {
    const std::string nearest = Nearest(column.name(), names_);
    return InvalidArgument(
        "which has no column named ", Shown(column.name()), " (", who, " it)",
        nearest.empty() ? "" : absl::StrCat("; the nearest is ", Shown(nearest)));
  }
  const Places& places = found->second;
  FIRN_RETURN_IF(places.first != places.again,
                 InvalidArgument("which has columns ", places.first, " and ", places.again,
                                 " named ", Shown(column.name()), ": ", who, " it (take a place)"));
  return places.first;
}

absl::StatusOr<std::vector<size_t>> ColumnFinder::FindAll(const CsvColumn& column,
                                                          const std::string& who) const {
  const auto group = column.is_named() ? groups_.find(column.name()) : groups_.end();
  if (group != groups_.end()) return group->second;
  FIRN_ASSIGN_OR_RETURN(const size_t place, Find(column, who));
  return std::vector<size_t>{place};
}

}  // namespace firn::io::internal
