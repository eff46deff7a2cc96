#ifndef FIRN_IO_HDF5_HDF5_STATUS_H_
#define FIRN_IO_HDF5_HDF5_STATUS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/hdf5.h"
#include "firn/io/load_limits.h"

namespace firn::io {

// The functions of hdf5.h with a status.
absl::Status TrySaveHdf5(const std::string& path, const StateDict& state);
absl::StatusOr<StateDict> TryLoadHdf5(const std::string& path, const LoadOptions& options = {});

// LoadHdf5Words (data/hdf5_dataset.h) with a status: the strings of a dataset, of one length or of
// any, by its name as LoadHdf5 would give it, row-major, without their padding. Errors as of
// LoadHdf5; Unimplemented for other elements.
absl::StatusOr<std::vector<std::string>> TryLoadHdf5Words(const std::string& path,
                                                          const std::string& name,
                                                          const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_HDF5_HDF5_STATUS_H_
