#ifndef FIRN_IO_DATA_CSV_ROWS_H_
#define FIRN_IO_DATA_CSV_ROWS_H_

// NNabla's CSV data sets: a line an example, whose cells are numbers or name files.
//
//   x:image,y:label
//   cat/1.png,0
//   dog/7.png,1
//
//   io::CsvRowsOptions options = {.one_hot = {"color"}, .missing = io::CsvMissing::kMean};
//   options.dtypes["y"] = DType::kI64;
//   io::DataLoader train(io::CsvRows("houses.csv", options), {.batch = 8});

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/io/csv/csv.h"
#include "firn/io/data/dataset.h"
#include "firn/io/image/image.h"
#include "firn/io/load_limits.h"

namespace firn::io {

struct CsvRowsOptions {
  // The variables to read, in this order; empty: all that the file has. Cells of other variables
  // may hold any text.
  std::vector<std::string> variables = {};
  // The words that may stand in a column, each of which becomes its place in the list, as in
  // CsvOptions. Here and below, the name of a variable stands for all its columns; others are named
  // as they are in the first line, or by their places.
  CsvByColumn<std::vector<std::string>> categories = {};
  // Columns of words that become as many numbers as there are words, 1 for the cell's word and 0
  // for the others. Where `categories` lists no words they are the words of this file, sorted
  // (LoadCsvWords); so another file of the same data may get different ones.
  std::vector<CsvColumn> one_hot = {};
  // The dtype of cells that are numbers: f32, f64, i64, i32 or u8. A whole number without an
  // exponent that it cannot hold exactly is an error, 16777217 in f32 for one; integers take no
  // other.
  DType dtype = DType::kF32;
  // The dtype of columns for which it differs. All columns of a variable have the same.
  CsvByColumn<DType> dtypes = {};
  bool round = false;  // whole numbers too, in f32 and f64
  // How missing cells are treated: those that hold one of `missing_words`, with or without blanks
  // and quotes around it, or NaN; with kError, NaN is a number of f32 and f64. kDropRow leaves out
  // rows in which a variable that is read has a missing cell: size() counts the others. kMean and
  // kDropRow read the text once more when the file is opened. Opening then reports errors in all
  // cells, but not in files that cells name.
  CsvMissing missing = CsvMissing::kError;
  // The number that takes the place of missing cells, under the rules for numbers in cells. A value
  // alone implies kValue; kValue without a value means NaN.
  std::optional<double> missing_value = {};
  std::vector<std::string> missing_words = CsvOptions().missing_words;
  // Images become f32 from 0 to 1 (u8 / 255, 16 bits / 65535); otherwise they are u8, or i32 where
  // the file has 16 bits a sample.
  bool normalize = true;
  DecodeImageOptions image = {.keep_16_bits = true};
  // Cells may name files outside of the CSV's folder, by a path that begins with "/" or has a ".."
  // in it. Leave it false for files from elsewhere: they could name any file of the machine.
  bool allow_outside = false;
  // Functions that read the files of cells which end in these suffixes, with the dot and in small
  // letters (".mat"). They come before the formats below, get the path, and are called by several
  // threads at once.
  std::unordered_map<std::string, std::function<Tensor(const std::string& path)>> readers = {};
  LoadLimits limits = {};
};

// The rows of a CSV file: samples whose tensors are called as its variables. Only where its lines
// begin is kept, 8 bytes a row (16 with kDropRow); a row is read when it is asked for. Numbers and
// words are converted as by LoadCsv.
//
// The first line has a name for each column, `variable[__index][:label]`. Labels are for people. A
// column without an index is a variable of its own, a number in it [1] of the options' dtype;
// columns x__0, x__1, ... make one variable x, [columns], in the order in which they stand. Columns
// whose name begins with # are passed over.
//
// A cell that is no number, in a column without words, is the path of a file, relative to the CSV's
// folder, with / or \ between its parts. The end of its name tells how it is read: .bmp, .gif,
// .jpg, .jpeg, .png, .tif or .tiff to [channels, height, width] (see the options); .csv to [rows,
// columns] of `dtype`; .npy with the type it has; .wav to f32 [channels, frames] from -1 to 1; and
// what a format of the program's own reads as one tensor (Format::read_array, formats/formats.h).
// Links are followed. Files on the web (http, https, s3) are refused. Lines, quotes and the byte
// order mark are as in LoadCsv; there is no gzip.
//
// Throws firn::Error: DataLoss as "<file>: line <from 1>, column <from 0>: ..."; Unimplemented for
// what is refused; PermissionDenied for files outside of the folder; ResourceExhausted beyond the
// limits, of which max_metadata_bytes bounds one line, and the words that are found, and
// max_total_bytes bounds the tensors of the files that a line names (counted twice where they are
// copied into one) and the numbers for its words; InvalidArgument for options that make no sense,
// and columns that the file does not have, with the nearest name that it has; NotFound and the like
// for a path. Reading a row throws the same, and the errors of the file that a cell names.
DatasetPtr CsvRows(const std::string& path, const CsvRowsOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_CSV_ROWS_H_
