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
  kInexact,   // a number that the type does not hold: it would be rounded, or lies beyond
};

// Reads all of `text`, blanks around it aside, as a number. A whole number without an exponent is
// exact unless `round`; integer types take no other. float, double, int64_t, int32_t, uint8_t.
template <class T>
CellError ParseCell(std::string_view text, bool round, T* value);

// Whether `text` is read as NaN, which is missing whatever the type.
bool IsNanCell(std::string_view text);

// The number that takes the place of missing cells, as `dtype` (those above) has it: held to what
// its shortest text would be as a cell, or all its digits for integer types. InvalidArgument,
// "csv: missing_value is 256 (want ...)", where `who` is "csv".
absl::StatusOr<double> MissingValue(std::string_view who, double number, DType dtype, bool round);

// Where MissingValue refuses what the options have for a missing cell, and a type has no means.
absl::Status NoValueFor(const CsvField& field, DType dtype, double number);
absl::Status NoMeanFor(const CsvField& field, bool number, DType dtype, const std::string& advice);

// What was wanted where ParseCell says kInexact: "a whole number from 0 to 255 (u8)".
std::string WantedOf(DType dtype);

// Whether `value` is what a whole number in `text` says; others are not asked about: true for
// digits behind a point, and for exponents. Requires: `text` was parsed as `value`, a finite one.
bool IsExactCell(std::string_view text, double value);

}  // namespace firn::io

#endif  // FIRN_IO_CSV_CSV_CELLS_H_
