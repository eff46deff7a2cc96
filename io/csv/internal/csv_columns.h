#ifndef FIRN_IO_CSV_INTERNAL_CSV_COLUMNS_H_
#define FIRN_IO_CSV_INTERNAL_CSV_COLUMNS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/internal/csv_line.h"

namespace firn::io::internal {

// `3`, or `"price"`.
std::string ToString(const CsvColumn& column);

// The columns of a table, by its heading or its first row. Thread-compatible.
class ColumnFinder {
 public:
  ColumnFinder(const std::vector<Field>& first, bool heading);

  // From now on the name stands for these columns, even if a single column has it.
  void AddGroup(const std::string& name, std::vector<size_t> places) {
    groups_[name] = std::move(places);
  }

  size_t size() const { return size_; }
  bool has_names() const { return !names_.empty(); }
  // "" without a heading.
  std::string NameOf(size_t place) const { return names_.empty() ? "" : names_[place]; }
  // InvalidArgument, "which has 2 columns: <who> column 2 (want 0 to 1)" or "which has no column
  // named "prise" (<who> it); the nearest is "price"". `who` is "CsvOptions::columns names".
  absl::StatusOr<size_t> Find(const CsvColumn& column, const std::string& who) const;
  // The column, or the columns of a group.
  absl::StatusOr<std::vector<size_t>> FindAll(const CsvColumn& column,
                                              const std::string& who) const;

 private:
  size_t size_;
  std::vector<std::string> names_ = {};
  struct Places {
    size_t first, again;  // the same where there is one
  };
  absl::flat_hash_map<std::string, Places> places_ = {};
  absl::flat_hash_map<std::string, std::vector<size_t>> groups_ = {};
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_COLUMNS_H_
