#ifndef FIRN_IO_LOAD_LIMITS_H_
#define FIRN_IO_LOAD_LIMITS_H_

#include <cstdint>

namespace firn::io {

// Limits on the resources that reading a file may take. Every reader checks a size that the file
// claims against these, and against the file's own size, before it allocates. A plain value.
struct LoadLimits {
  int64_t max_tensors = 1'000'000;
  // Elements of all tensors together (256 GiB); an HDF5 chunk must fit in what is left of it.
  int64_t max_total_bytes = int64_t{1} << 38;
  int64_t max_metadata_bytes = int64_t{1} << 28;  // names, headers, indices
  int64_t max_name_bytes = 4096;
  int max_depth = 64;  // of nested groups
  // Elements that one stored byte may expand to; deflate itself cannot exceed 1032.
  int64_t max_expansion = 1040;
  // Elements of HDF5 datasets that were never written, for which the file has one value.
  int64_t max_unwritten_bytes = int64_t{1} << 28;
};

}  // namespace firn::io

#endif  // FIRN_IO_LOAD_LIMITS_H_
