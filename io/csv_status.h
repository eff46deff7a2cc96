#ifndef FIRN_IO_CSV_STATUS_H_
#define FIRN_IO_CSV_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/csv.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// LoadCsv with a status.
absl::StatusOr<Tensor> ReadCsv(const std::string& path, const CsvOptions& options = {});

// The same for text in memory; `name` stands for the path in messages.
absl::StatusOr<Tensor> ParseCsv(const std::string& text, const std::string& name,
                                const CsvOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CSV_STATUS_H_
