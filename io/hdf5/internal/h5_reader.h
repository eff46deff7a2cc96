#ifndef FIRN_IO_HDF5_INTERNAL_H5_READER_H_
#define FIRN_IO_HDF5_INTERNAL_H5_READER_H_

#include "absl/status/statusor.h"
#include "firn/io/load_options.h"
#include "firn/io/random_access.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// io::LoadHdf5 of a file, or of memory that stands for one.
absl::StatusOr<StateDict> ReadH5(const RandomAccess& file, const LoadOptions& options);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_READER_H_
