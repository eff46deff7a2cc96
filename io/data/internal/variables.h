#ifndef FIRN_IO_DATA_INTERNAL_VARIABLES_H_
#define FIRN_IO_DATA_INTERNAL_VARIABLES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace firn::io::internal {

using PlacesByName = absl::flat_hash_map<std::string, size_t>;

// The place in `chosen` of each of its names. NotFound, naming `where`, for one that is not among
// `all`; InvalidArgument, naming `option`, for a name that occurs twice.
absl::StatusOr<PlacesByName> PlacesOf(const std::vector<std::string>& chosen,
                                      const std::vector<std::string>& all, const std::string& where,
                                      const char* option);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_VARIABLES_H_
