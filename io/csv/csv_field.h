#ifndef FIRN_IO_CSV_CSV_FIELD_H_
#define FIRN_IO_CSV_CSV_FIELD_H_

#include <string>
#include <string_view>

namespace firn::io {

// One field of a record of a CSV file, which it points into.
struct CsvField {
  std::string_view text;  // without the quotes around it
  bool quoted = false;
};

// The text of a field: two quotes within quotes stand for one.
std::string WordOf(const CsvField& field);

}  // namespace firn::io

#endif  // FIRN_IO_CSV_CSV_FIELD_H_
