#ifndef FIRN_IO_DATA_INTERNAL_CSV_ROWS_PLAN_H_
#define FIRN_IO_DATA_INTERNAL_CSV_ROWS_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/csv/internal/csv_columns.h"
#include "firn/io/csv/internal/csv_header.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/csv/internal/csv_plan.h"
#include "firn/io/csv/internal/csv_words.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/data/csv_rows_status.h"
#include "firn/io/data/internal/csv_numbers.h"

namespace firn::io::internal {

// "t.csv: line 3, <what the status says>".
absl::Status InLine(const std::string& path, int64_t line, const absl::Status& status);

// The plan by which CsvRows converts cells: the columns of a file, and the means, words and rows
// found in all its lines. Thread-safe.
class CsvRowsPlan {
 public:
  struct Column {
    size_t variable = CsvHeader::kPassedOver;  // in variables()
    bool indexed = false;
    const CsvSource* source = nullptr;  // null: passed over
    std::optional<double> fill = {};    // what takes the place of a missing number
  };

  // `first` is the line of the names, and `records` how many the file has with it.
  static absl::StatusOr<std::unique_ptr<CsvRowsPlan>> Make(const std::string& path,
                                                           const CsvRowsOptions& options,
                                                           const CsvRowsWording& wording,
                                                           const std::string& first,
                                                           int64_t records);
  CsvRowsPlan(const CsvRowsPlan&) = delete;
  CsvRowsPlan& operator=(const CsvRowsPlan&) = delete;

  const CsvRowsOptions& options() const { return options_; }
  const CsvRowsWording& wording() const { return wording_; }
  CsvMissing missing() const { return table_.missing; }
  double missing_value() const { return table_.missing_value; }
  const std::vector<std::string>& variables() const { return variables_; }
  const std::vector<Column>& columns() const { return columns_; }
  // The records that are rows, by their places in the file; null: all but the first.
  const std::vector<int64_t>* kept() const { return kept_ ? &*kept_ : nullptr; }

  // Calls f with the number in the cell, or returns that there is none. DataLoss for one that the
  // type does not hold.
  template <class F>
  absl::StatusOr<bool> TakeNumber(const Field& field, const CsvSource& source, F f) const {
    const bool nan_is_one = table_.missing == CsvMissing::kError;
    return WithElementOf(source.dtype, [&](auto value) -> absl::StatusOr<bool> {
      const CellNumber is = ReadNumber(field.text, options_.round, nan_is_one, &value);
      if (is == CellNumber::kIsOne) [[likely]] {
        f(value);
        return true;
      }
      if (is == CellNumber::kIsNone) return false;
      return Refused(field, source.dtype, is);
    });
  }
  // Whether a cell that is no number is missing. NaN is missing where missing cells are no errors.
  bool IsMissing(const Field& field) const;
  // The place of the cell's word; -1 where it is missing. DataLoss for words that are not listed.
  absl::StatusOr<int64_t> PlaceOf(const Field& field, const CsvSource& source) const;
  // DataLoss where no mean can take the place of a missing cell.
  absl::Status CheckHasMean(const Field& field, const CsvSource& source) const;
  // "column 3 ("x"): <what the status says>".
  absl::Status InColumn(size_t column, const absl::Status& status) const;

 private:
  CsvRowsPlan(const std::string& path, const CsvRowsOptions& options, CsvOptions table,
              const CsvRowsWording& wording, CsvHeader header, int64_t records);
  absl::Status Choose();
  absl::Status Begin(const std::string& first);
  ColumnFinder FinderOf(const std::vector<Field>& names) const;
  absl::Status CheckTypes() const;
  absl::Status FindWords(const ColumnFinder& finder);
  absl::Status Look();
  absl::StatusOr<bool> LookAt(const Field& field, const CsvSource& source, RunningMean* mean) const;
  absl::Status ForEachRow(
      absl::FunctionRef<absl::Status(const std::vector<Field>& fields)> f) const;
  absl::Status InFile(size_t column, const absl::Status& status) const;
  absl::Status Refused(const Field& field, DType dtype, CellNumber is) const;

  const std::string path_;
  const CsvRowsOptions options_;
  const CsvRowsWording wording_;
  const CsvWording table_wording_;
  CsvOptions table_;  // the options in LoadCsv's form
  CsvPlan plan_;
  CsvSource plain_ = {};  // of one-hot columns for which the options list no words
  const MissingWords missing_;
  const CsvHeader header_;
  const std::vector<std::string> variables_;
  const int64_t records_;
  std::vector<Column> columns_ = {};
  std::optional<std::vector<int64_t>> kept_ = {};
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_CSV_ROWS_PLAN_H_
