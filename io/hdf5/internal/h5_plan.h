#ifndef FIRN_IO_HDF5_INTERNAL_H5_PLAN_H_
#define FIRN_IO_HDF5_INTERNAL_H5_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_filters.h"
#include "firn/io/hdf5/internal/h5_message.h"
#include "firn/io/hdf5/internal/h5_object.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/tensor/shape.h"

namespace firn::io::internal {

// The bytes that all datasets of one file together may still use.
struct H5Budget {
  int64_t element_bytes;    // in memory: LoadLimits::max_total_bytes
  int64_t stored_bytes;     // in the file: its size, so that datasets cannot share elements
  int64_t unwritten_bytes;  // in memory, of elements that the file does not have

  explicit H5Budget(const H5File& file)
      : element_bytes(file.limits().max_total_bytes),
        stored_bytes(file.size()),
        unwritten_bytes(file.limits().max_unwritten_bytes) {}
};

// A dataset as its messages describe it.
struct H5Plan {
  Shape shape;
  Dims most;        // of H5Space
  StoredType type;  // of strings, u8 but for its bytes
  H5WordType word;  // of strings alone
  H5Layout layout;
  H5Filters filters;
  uint64_t offset = 0;  // of the layout message, for errors

  int64_t stored_bytes() const { return shape.num_elements() * type.bytes; }
};

enum class H5Elements { kNumbers, kWords };
absl::StatusOr<H5Plan> MakeH5Plan(const H5File& file, const H5Object& dataset,
                                  H5Elements elements = H5Elements::kNumbers);

// The stored form of an element that was never written; charges `n` of them to the budget. `all`:
// no element was written. ResourceExhausted beyond the budget, Unimplemented if such elements have
// no value.
absl::StatusOr<std::string> UnwrittenH5Element(const H5File& file, const H5Object& dataset,
                                               const H5Plan& plan, int64_t n, bool all,
                                               H5Budget* budget);

// Fills `n` elements with copies of `element`, in stored form.
void FillH5Elements(std::string_view element, int64_t n, char* to);

// Takes `bytes` at `address` out of the stored budget.
absl::Status ClaimH5Bytes(const H5File& file, uint64_t address, uint64_t bytes, H5Budget* budget);

// DataLoss unless the elements take `got` bytes.
absl::Status CheckH5StoredSize(const H5File& file, const H5Plan& plan, uint64_t got);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_PLAN_H_
