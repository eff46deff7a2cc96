#ifndef FIRN_IO_HDF5_INTERNAL_H5_GROUP_H_
#define FIRN_IO_HDF5_INTERNAL_H5_GROUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_object.h"

namespace firn::io::internal {

struct H5Link {
  std::string name;
  uint64_t address = 0;  // of the object header
  bool is_soft = false;  // a soft link has a path instead
  std::string path = {};
};

// The members of a group, in the order in which the file lists them. Unimplemented for
// external links; DataLoss for damage; ResourceExhausted for more than LoadLimits::max_tensors.
// Requires: group.is_group().
absl::StatusOr<std::vector<H5Link>> ListH5Group(H5File& file, const H5Object& group);

// One link, in the encoding of the link message, which the fractal heap uses as well.
absl::Status ParseH5Link(H5File& file, H5Cursor c, std::vector<H5Link>* links);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_GROUP_H_
