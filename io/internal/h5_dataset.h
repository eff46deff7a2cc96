#ifndef FIRN_IO_INTERNAL_H5_DATASET_H_
#define FIRN_IO_INTERNAL_H5_DATASET_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "io/internal/h5_file.h"
#include "io/internal/h5_object.h"
#include "tensor/tensor.h"

namespace firn::io::internal {

// What all datasets of one file may still take together.
struct H5Budget {
  int64_t element_bytes;  // in memory: LoadLimits::max_total_bytes
  int64_t stored_bytes;   // in the file: its size, so that datasets cannot share elements
};

// Reads a dataset's elements into a new tensor on the CPU. Every size is checked against the file,
// the limits and the budget before memory is taken for it. Errors do not say which dataset it is.
absl::StatusOr<Tensor> ReadH5Dataset(H5File& file, const H5Object& dataset, H5Budget* budget);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_H5_DATASET_H_
