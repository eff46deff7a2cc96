#ifndef FIRN_DEVICE_EDIT_DISTANCE_H_
#define FIRN_DEVICE_EDIT_DISTANCE_H_

// How unlike two names are, to suggest what somebody probably meant.

#include <cstddef>
#include <string_view>

namespace firn::inner::internal {

// Levenshtein's distance: the fewest characters (bytes) to insert, delete or replace that turn one
// text into the other.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_EDIT_DISTANCE_H_
