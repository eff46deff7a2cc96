#ifndef FIRN_IO_HDF5_DATASET_H_
#define FIRN_IO_HDF5_DATASET_H_

#include <string>

#include "io/dataset.h"
#include "io/load_limits.h"

namespace firn::io {

struct Hdf5DatasetOptions {
  std::string input = "x";
  std::string target = "y";  // "": samples have no target
  LoadLimits limits = {};
};

// Arrays of an HDF5 file, by the names that io::Load gives them ("group/x" is "group.x"), as a data
// set: sample i is row i of each. Other content of the file is not read. The arrays are read into
// memory. Throws firn::Error, as Load, and where one is missing, has no rows to number, or they
// have different numbers of them.
DatasetPtr Hdf5Dataset(const std::string& path, const Hdf5DatasetOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_HDF5_DATASET_H_
