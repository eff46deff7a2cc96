#ifndef FIRN_IO_NPY_INTERNAL_NPY_ARRAY_H_
#define FIRN_IO_NPY_INTERNAL_NPY_ARRAY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/npy/npy.h"
#include "firn/io/random_access.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// The header before the elements of a .npy array.
struct NpyHeader {
  StoredType type;
  bool fortran_order = false;
  Shape shape;          // as NumPy shows it, whatever the order
  int64_t data_at = 0;  // where the elements begin
  int64_t data_bytes() const { return shape.num_elements() * type.bytes; }
};

absl::StatusOr<NpyHeader> ReadNpyHeader(const RandomAccess& file, const NpyOptions& options);

// Checks that the elements end where the file does. DataLoss if they do not, Unimplemented if
// another array follows.
absl::Status CheckDataBytes(const RandomAccess& file, const NpyHeader& header);

// An array on the CPU, its elements not set. ResourceExhausted where memory runs out.
absl::StatusOr<Tensor> NewArray(DType dtype, const Shape& shape);

// `n` elements of the dtype of `type` from `offset` on, into `out`, which has room for them as they
// are stored too. DataLoss, with `field` saying what they are, where the file ends early or has a
// value that the dtype does not have. `crc`, where it is not null, becomes the CRC-32 of the stored
// bytes.
absl::Status ReadElements(const RandomAccess& file, int64_t offset, const StoredType& type,
                          int64_t n, const std::string& field, char* out, uint32_t* crc = nullptr);

// The whole array; nothing may follow it. `crc`, where it is not null, becomes the CRC-32 of the
// whole file.
absl::StatusOr<Tensor> ReadNpyArray(const RandomAccess& file, const NpyOptions& options,
                                    uint32_t* crc = nullptr);

// "\x93NUMPY..." up to the elements, a multiple of 64 bytes.
absl::StatusOr<std::string> FormatNpyHeader(DType dtype, const Shape& shape);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NPY_INTERNAL_NPY_ARRAY_H_
