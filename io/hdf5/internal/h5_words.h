#ifndef FIRN_IO_HDF5_INTERNAL_H5_WORDS_H_
#define FIRN_IO_HDF5_INTERNAL_H5_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

// io::LoadHdf5Words of a file, or of memory that stands for one.
absl::StatusOr<std::vector<std::string>> ReadH5Words(const RandomAccess& file,
                                                     std::string_view name,
                                                     const LoadLimits& limits);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_WORDS_H_
