#ifndef FIRN_IO_CSV_INTERNAL_CSV_HEADER_H_
#define FIRN_IO_CSV_INTERNAL_CSV_HEADER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace firn::io::internal {

// The contents of an NNabla CSV file's first line.
struct CsvHeader {
  static constexpr size_t kPassedOver = ~size_t{0};
  struct Column {
    std::string name;               // as in the file, for messages
    size_t variable = kPassedOver;  // its place in `variables`
    bool indexed = false;           // one of several columns of its variable
  };

  std::vector<std::string> variables;
  std::vector<Column> columns;
};

// DataLoss, naming the column, where a name is empty or occurs twice, or if there is no variable.
absl::StatusOr<CsvHeader> ParseCsvHeader(std::string_view line);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_HEADER_H_
