#ifndef FIRN_IO_HDF5_INTERNAL_H5_WRITER_H_
#define FIRN_IO_HDF5_INTERNAL_H5_WRITER_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// Makes the HDF5 file of a state dict and puts it in place at `path` as a whole. Equal dicts give
// equal bytes. `groups` are paths of groups that get an attribute `index` of their own, counting
// from 0. `pace` is called between pieces of a few MB, so that a caller can slow the work down.
// Other threads need not wait for the HDF5 library during that call or while the disk is written.
// Errors: InvalidArgument for a tensor or a name that cannot be stored; Internal for what the HDF5
// library says; those of AtomicFile. All begin with "save <path>".
absl::Status WriteH5(
    const std::string& path, const StateDict& state, absl::Span<const std::string> groups = {},
    absl::FunctionRef<void()> pace = [] {});

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_WRITER_H_
