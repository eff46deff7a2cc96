#ifndef FIRN_IO_INTERNAL_H5_PLAN_H_
#define FIRN_IO_INTERNAL_H5_PLAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/internal/h5_file.h"
#include "firn/io/internal/h5_message.h"
#include "firn/io/internal/h5_object.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/tensor/shape.h"

namespace firn::io::internal {

// What all datasets of one file may still take together.
struct H5Budget {
  int64_t element_bytes;  // in memory: LoadLimits::max_total_bytes
  int64_t stored_bytes;   // in the file: its size, so that datasets cannot share elements
};

// A dataset as its messages describe it.
struct H5Plan {
  Shape shape;
  StoredType type;
  H5Layout layout;
  H5Filters filters;
  uint64_t offset = 0;  // of the layout message, for errors

  int64_t stored_bytes() const { return shape.num_elements() * type.bytes; }
};

absl::StatusOr<H5Plan> MakeH5Plan(const H5File& file, const H5Object& dataset);

// Takes `bytes` at `address` out of the stored budget.
absl::Status ClaimH5Bytes(const H5File& file, uint64_t address, uint64_t bytes, H5Budget* budget);

// DataLoss unless the elements take `got` bytes.
absl::Status CheckH5StoredSize(const H5File& file, const H5Plan& plan, uint64_t got);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_H5_PLAN_H_
