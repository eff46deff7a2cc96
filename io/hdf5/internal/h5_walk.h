#ifndef FIRN_IO_HDF5_INTERNAL_H5_WALK_H_
#define FIRN_IO_HDF5_INTERNAL_H5_WALK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_object.h"

namespace firn::io::internal {

// A dataset that a walk has come to.
struct H5Found {
  std::string name;              // as state dicts have it: "conv1.W"
  std::vector<int64_t> order;    // the indices of the groups above
  std::optional<int64_t> index;  // its attribute of that name
  // Null where the dataset has another name, by which it was found before,
  const H5Object* object = nullptr;
  size_t first = 0;       // in the call of this number
  uint64_t address = 0;   // of the dataset, whatever its names
  std::string_view path;  // where it is in the file, without a leading slash
};

struct H5Walked {
  bool partial = false;                  // whether a dataset was left out
  std::optional<int64_t> file_checksum;  // the root group's
};

// "/conv1/W", for messages; safe to print even if the file is damaged.
std::string H5Place(std::string_view path);

// Calls `take` for each name of a dataset of the file whose name `want` wants (empty: for all), in
// no order, except that names by soft links come last. A group or a dataset may have several names,
// but no group may lie below itself. Stops at the first error, which then names the place.
absl::StatusOr<H5Walked> WalkH5(H5File& file, const std::function<bool(std::string_view)>& want,
                                absl::FunctionRef<absl::Status(const H5Found&)> take);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_WALK_H_
