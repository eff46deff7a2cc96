#ifndef FIRN_IO_CSV_CSV_CELLS_H_
#define FIRN_IO_CSV_CSV_CELLS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/csv/csv_field.h"
#include "firn/tensor/dtype.h"

namespace firn::io {

enum class CellError {
  kNone,
  kNoNumber,  // or one that is too large for f32 or f64
  kInexact,   // a number that the type cannot hold: it would be rounded, or is out of range
};

// Reads all of `text`, blanks around it aside, as a number. A whole number without an exponent is
// exact unless `round`; integer types take no other. float, double, int64_t, int32_t, uint8_t.
template <class T>
CellError ParseCell(std::string_view text, bool round, T* value);

// Whether `text` is read as NaN, which is missing whatever the type.
bool IsNanCell(std::string_view text);

// The number that takes the place of missing cells, as `dtype` (one of those above) holds it. The
// rules for cells apply to its shortest text, or to all its digits for integer types.
// InvalidArgument, "csv: missing_value is 256 (want ...)", where `who` is "csv".
absl::StatusOr<double> MissingValue(std::string_view who, double number, DType dtype, bool round);

// The errors for a missing cell if MissingValue refuses the options' value, and if the type has no
// mean.
absl::Status NoValueFor(const CsvField& field, DType dtype, double number);
absl::Status NoMeanFor(const CsvField& field, bool number, DType dtype, const std::string& advice);

// The expected number, for messages about kInexact: "a whole number from 0 to 255 (u8)".
std::string WantedOf(DType dtype);

// Whether `value` equals the whole number in `text`. Always true if `text` has digits behind a
// point or an exponent. Requires: `text` was parsed as `value`, which is finite.
bool IsExactCell(std::string_view text, double value);

}  // namespace firn::io

#endif  // FIRN_IO_CSV_CSV_CELLS_H_
