#ifndef FIRN_IO_CSV_CSV_H_
#define FIRN_IO_CSV_CSV_H_

// Tables as text: numbers, and words that stand for classes.
//
//   io::CsvOptions options = {.columns = {"petal", "species"}};
//   options.categories["species"] = {"setosa", "versicolor", "virginica"};  // or LoadCsvWords
//   Tensor table = io::LoadCsv("iris.csv", options);                        // f32 [rows, 2]
//
//   options.dtypes["species"] = DType::kI64;
//   StateDict columns = io::LoadCsvColumns("iris.csv", options);  // a tensor for each column
//   Tensor classes = columns["species"];                          // i64 [rows]

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "firn/io/load_limits.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// A column of a table: by its place, counted from 0, or by its name in the heading. A plain value.
class CsvColumn {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool>) CsvColumn(T place) : place_(static_cast<int64_t>(place)) {}
  CsvColumn(std::string name) : named_(true), name_(std::move(name)) {}
  CsvColumn(const char* name) : CsvColumn(std::string(name)) {}

  bool is_named() const { return named_; }
  int64_t place() const { return place_; }
  const std::string& name() const { return name_; }
  friend bool operator==(const CsvColumn& a, const CsvColumn& b) = default;

 private:
  bool named_ = false;
  int64_t place_ = 0;  // where it has no name
  std::string name_;
};

struct CsvColumnHash {
  size_t operator()(const CsvColumn& c) const {
    return c.is_named() ? std::hash<std::string>()(c.name()) : std::hash<int64_t>()(c.place());
  }
};

// A value for each of some columns.
template <class Value>
using CsvByColumn = std::unordered_map<CsvColumn, Value, CsvColumnHash>;

// How a missing cell (CsvOptions::missing_words) is treated where a number or a word is wanted.
enum class CsvMissing {
  kError,    // it is an error, which names the cell
  kValue,    // CsvOptions::missing_value takes its place; 0 in all columns of a one-hot word
  kMean,     // the mean of what the column's other cells hold, of this file
  kDropRow,  // its row is left out; the other cells of the row must be valid all the same
};

// Columns are those of the file; places are counted from 0, here and in messages. A column that is
// named by any of these is looked for in the heading.
struct CsvOptions {
  char separator = ',';
  int64_t skip_lines = 0;  // lines at the beginning, whatever they hold
  // The columns to read, in the order that they get in the result; empty: all. The others may hold
  // any text, but a field that begins with a quote ends with one there too.
  std::vector<CsvColumn> columns = {};
  // The words that may stand in a column, by the column. Each is read as its place in the list: 0,
  // 1, ... Columns that are not listed hold numbers.
  CsvByColumn<std::vector<std::string>> categories = {};
  // Columns of `categories` that become one column for each word: 1 in the column of the cell's
  // word, 0 in the others.
  std::vector<CsvColumn> one_hot = {};
  // Whether the first line that is not skipped names the columns. Asking for a column by name
  // implies it.
  bool heading = false;
  // The dtype of the result: f32, f64, i64, i32 or u8. A whole number that it cannot hold exactly
  // is an error, 16777217 in f32 for one. Digits behind a point, and numbers with an exponent, are
  // rounded to the nearest in f32 and f64, and errors in the others.
  DType dtype = DType::kF32;
  // The dtype of columns for which it differs: {{"id", DType::kI64}, {"price", DType::kF64}}.
  CsvByColumn<DType> dtypes = {};
  bool round = false;  // whole numbers are rounded too, in f32 and f64
  CsvMissing missing = CsvMissing::kError;
  // The same rules as for cells apply: 16777217 in f32 is an error unless `round`.
  double missing_value = std::numeric_limits<double>::quiet_NaN();
  // The texts of missing cells, without the blanks and quotes around them. A number that reads as
  // NaN is missing too, in every type. A text that `categories` lists is a word.
  std::vector<std::string> missing_words = {"",    "?",   "NA",   "N/A",  "n/a",  "#N/A", "<NA>",
                                            "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"};
  LoadLimits limits = {};
};

// Reads a table, gzip-compressed or not, into [rows, columns] of `dtype`. One line is one row; it
// ends with \n, \r\n or \r. Blanks around a field, empty lines at the end and a byte order mark of
// UTF-8 are allowed; a tab or blank that is the separator separates, wherever it is. A field may
// stand in double quotes, and then hold separators, ends of lines, and quotes as two.
// Throws firn::Error: DataLoss names the file, the line (counted from 1) and the column, what was
// expected and what came, and the option that changes it; InvalidArgument for options that make no
// sense or name columns that the file does not have, with the nearest name that it has;
// ResourceExhausted beyond the limits; NotFound and the like for the path. A tensor has one type:
// where `dtypes` gives the columns that are read several, InvalidArgument names two of them.
// io/csv/csv_status.h has it with a status, and for text in memory.
Tensor LoadCsv(const std::string& path, const CsvOptions& options = {});

// The same table, a tensor for each column, in the order of `columns`: [rows] of the type that
// `dtypes` gives the column, or of `dtype`; [rows, words] for one of `one_hot`. A tensor has the
// name or place ("3") by which the column was asked for; where `columns` is empty, its name in the
// heading, or its place if there is no heading. Throws as LoadCsv; InvalidArgument also for two
// columns of one name, DataLoss also for a file without a line. A missing cell of a column of whole
// numbers is an error where it should become a mean, or a missing_value that the type cannot hold.
StateDict LoadCsvColumns(const std::string& path, const CsvOptions& options = {});

// The different words of a column, sorted, for CsvOptions::categories where they are not known. The
// options `columns`, `categories`, `one_hot` and those of numbers are ignored. A missing word is an
// error as in LoadCsv, or left out if `missing` is anything but kError. Throws as LoadCsv.
std::vector<std::string> LoadCsvWords(const std::string& path, const CsvColumn& column,
                                      const CsvOptions& options = {});

// The names of the columns, which the first line that is not skipped holds. Among the
// options `separator`, `skip_lines` and `limits` matter. Throws as LoadCsv.
std::vector<std::string> LoadCsvNames(const std::string& path, const CsvOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CSV_CSV_H_
