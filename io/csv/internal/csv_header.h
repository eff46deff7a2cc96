#ifndef FIRN_IO_CSV_INTERNAL_CSV_HEADER_H_
#define FIRN_IO_CSV_INTERNAL_CSV_HEADER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace firn::io::internal {

// What the first line of an NNabla CSV file says.
struct CsvHeader {
  static constexpr size_t kPassedOver = ~size_t{0};
  struct Column {
    std::string name;               // as it stands there, for messages
    size_t variable = kPassedOver;  // its place in `variables`
    bool indexed = false;           // one of several columns of its variable
  };

  std::vector<std::string> variables;
  std::vector<Column> columns;
};

// DataLoss, naming the column, where a name is empty or there twice, or there is no variable.
absl::StatusOr<CsvHeader> ParseCsvHeader(std::string_view line);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_HEADER_H_
