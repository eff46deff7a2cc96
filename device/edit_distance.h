#ifndef FIRN_DEVICE_EDIT_DISTANCE_H_
#define FIRN_DEVICE_EDIT_DISTANCE_H_

// How unlike two names are, to suggest what somebody probably meant.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firn::inner::internal {

// Levenshtein's distance: the fewest characters (bytes) to insert, delete or replace that turn one
// text into the other.
size_t EditDistance(std::string_view a, std::string_view b);

// The names most like `name`, at most `most`, the nearest first; of equally near ones the first in
// the list. Names of more than 100 characters are like none: they may be as long as the file that
// they come from, and the distance takes the product of the lengths.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& names,
                                      size_t most);

// "; there are a, b", or "; of 300 the nearest are ..." of more than five: behind a message that
// there is nothing called `name`.
std::string InsteadOf(std::string_view name, const std::vector<std::string>& names);

// The nearest name where it is near enough to be what was meant: no more than a third of its
// characters and one more are other ones. Else "".
std::string LikelyName(std::string_view name, const std::vector<std::string>& names);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_EDIT_DISTANCE_H_
