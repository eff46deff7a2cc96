#ifndef FIRN_IO_INTERNAL_H5_WRITER_H_
#define FIRN_IO_INTERNAL_H5_WRITER_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tensor/state_dict.h"

namespace firn::io::internal {

// Makes the HDF5 file of a state dict in memory and hands it to `write`, whose status is returned.
// Equal dicts give equal bytes. Errors: InvalidArgument for a tensor or a name that cannot be
// stored; Internal for what the HDF5 library says.
absl::Status WriteH5(const StateDict& state,
                     absl::FunctionRef<absl::Status(const void* image, size_t bytes)> write);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_H5_WRITER_H_
