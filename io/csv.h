#ifndef FIRN_IO_CSV_H_
#define FIRN_IO_CSV_H_

// Tables of numbers as text.

#include <string>

#include "absl/status/statusor.h"
#include "io/load_limits.h"
#include "tensor/tensor.h"

namespace firn::io {

struct CsvOptions {
  char separator = ',';
  int64_t skip_lines = 0;  // of a heading
  LoadLimits limits = {};
};

// Reads a table of numbers, gzip-compressed or not, into f32 [rows, columns]. One line is one row;
// blanks around a number, empty lines at the end and CR LF are allowed; quotes are not.
// Errors: those of ReadIdx; DataLoss names the file, the line and the column.
absl::StatusOr<Tensor> ReadCsv(const std::string& path, const CsvOptions& options = {});

// The same for text in memory; `name` stands for the path in messages.
absl::StatusOr<Tensor> ParseCsv(const std::string& text, const std::string& name,
                                const CsvOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CSV_H_
