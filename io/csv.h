#ifndef FIRN_IO_CSV_H_
#define FIRN_IO_CSV_H_

// Tables as text: numbers, and words that stand for classes.
//
//   io::CsvOptions options = {.skip_lines = 1, .columns = {0, 2, 4}};
//   options.categories[4] = {"setosa", "versicolor", "virginica"};  // or io::LoadCsvWords(path, 4)
//   Tensor table = io::LoadCsv("iris.csv", options);                // f32 [rows, 3]

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/io/load_limits.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// Columns are those of the file and counted from 0, here and in messages.
struct CsvOptions {
  char separator = ',';
  int64_t skip_lines = 0;  // of a heading
  // The columns to read, in the order that they get in the result; empty: all. The others may hold
  // any text, but a field that begins with a quote ends with one on its line there too.
  std::vector<int64_t> columns = {};
  // The words that may stand in a column, by the column. Each is read as its place in the list: 0,
  // 1, ... Columns that are not listed hold numbers.
  std::unordered_map<int64_t, std::vector<std::string>> categories = {};
  LoadLimits limits = {};
};

// Reads a table, gzip-compressed or not, into f32 [rows, columns]. One line is one row; blanks
// around a field, empty lines at the end, CR LF and a byte order mark of UTF-8 are allowed; a tab
// or blank that is the separator separates, wherever it is. A field may stand in double quotes, and
// then hold separators, and quotes as two; it ends on its line.
// Throws firn::Error: DataLoss names the file, the line (counted from 1) and the column, what was
// expected and what came; InvalidArgument for options that make no sense or name columns that the
// file does not have; ResourceExhausted beyond the limits; NotFound and the like for the path.
// io/csv_status.h has it with a status, and for text in memory.
Tensor LoadCsv(const std::string& path, const CsvOptions& options = {});

// The different words of a column, sorted: what CsvOptions::categories takes where they are not
// known. Of the options, `columns` and `categories` do not matter. Throws as LoadCsv.
std::vector<std::string> LoadCsvWords(const std::string& path, int64_t column,
                                      const CsvOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CSV_H_
