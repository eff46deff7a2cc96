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
// the list. No name is similar to one of more than 100 characters: names may be as long as the file
// that they come from, and the distance takes the product of the lengths.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& names,
                                      size_t most);

// "; there are a, b", or "; of 300 the nearest are ..." for more than five: the end of a message
// that nothing is called `name`.
std::string InsteadOf(std::string_view name, const std::vector<std::string>& names);

// The nearest name if it is probably what was meant: at most a third of its characters plus one
// differ. Else "".
std::string LikelyName(std::string_view name, const std::vector<std::string>& names);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_EDIT_DISTANCE_H_
