// variable[__index][:label]: the first colon and the first two underscores after something part a
// name, as NNabla parts it. An index is any text; columns make a vector in the order of the file.
#include "firn/io/csv/internal/csv_header.h"

#include <map>
#include <set>

#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"

namespace firn::io::internal {
namespace {

struct Known {
  size_t place;
  bool indexed;
  std::set<std::string> indices;
};

}  // namespace

absl::StatusOr<CsvHeader> ParseCsvHeader(std::string_view line) {
  std::vector<Field> fields;
  FIRN_RETURN_IF_ERROR(SplitRecord(line, ',', &fields));
  CsvHeader header;
  std::map<std::string, Known> known;
  for (size_t c = 0; c < fields.size(); ++c) {
    CsvHeader::Column column = {.name = WordOf(fields[c])};
    if (column.name.starts_with('#')) {
      header.columns.push_back(column);
      continue;
    }
    const std::string whole = column.name.substr(0, column.name.find(':'));
    const size_t at = whole.find("__");
    column.indexed = at != std::string::npos;
    const std::string variable = whole.substr(0, at);
    const std::string index = column.indexed ? whole.substr(at + 2) : "";
    FIRN_RETURN_IF(variable.empty(), DataLoss(InColumn(c), "expected the name of a variable, got ",
                                              Shown(column.name)));
    const auto [found, is_new] =
        known.try_emplace(variable, Known{header.variables.size(), column.indexed, {}});
    FIRN_RETURN_IF(found->second.indexed != column.indexed,
                   DataLoss(InColumn(c), "expected ", Shown(variable),
                            " always with an index or never, got ", Shown(column.name)));
    FIRN_RETURN_IF(
        !found->second.indices.insert(index).second,
        DataLoss(InColumn(c), "expected each column once, got ", Shown(whole), " again"));
    if (is_new) header.variables.push_back(variable);
    column.variable = found->second.place;
    header.columns.push_back(column);
  }
  FIRN_RETURN_IF(header.variables.empty(),
                 DataLoss("expected the name of a variable, got only columns to pass over"));
  return header;
}

}  // namespace firn::io::internal
