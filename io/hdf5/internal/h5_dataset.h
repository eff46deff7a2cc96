#ifndef FIRN_IO_HDF5_INTERNAL_H5_DATASET_H_
#define FIRN_IO_HDF5_INTERNAL_H5_DATASET_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_object.h"
#include "firn/io/hdf5/internal/h5_plan.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Reads a dataset's elements into a new tensor on the CPU. Every size is checked against the file,
// the limits and the budget before memory is taken for it. Errors do not say which dataset it is.
absl::StatusOr<Tensor> ReadH5Dataset(H5File& file, const H5Object& dataset, H5Budget* budget);

// The same as they are stored.
absl::StatusOr<std::string> ReadH5Stored(H5File& file, const H5Object& dataset, const H5Plan& plan,
                                         H5Budget* budget);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_DATASET_H_
