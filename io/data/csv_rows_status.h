#ifndef FIRN_IO_DATA_CSV_ROWS_STATUS_H_
#define FIRN_IO_DATA_CSV_ROWS_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/data/dataset.h"

namespace firn::io {

// The advice in messages. A tool whose users write no program has its own.
struct CsvRowsWording {
  std::string missing = "CsvRowsOptions::missing says what missing cells become";
  std::string inexact = "CsvRowsOptions::dtype takes wider types, ::round the nearest number";
  std::string outside = "CsvRowsOptions::allow_outside lets it out";
};

// CsvRows with a status and other words.
absl::StatusOr<DatasetPtr> TryCsvRows(const std::string& path, const CsvRowsOptions& options,
                                      const CsvRowsWording& wording = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_CSV_ROWS_STATUS_H_
