#ifndef FIRN_TOOLS_FIRN_DATA_FILES_H_
#define FIRN_TOOLS_FIRN_DATA_FILES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firn/io/data/dataset.h"

namespace firn::cli {

// A data set, of whichever kind that Firn reads.
struct Data {
  std::string format;  // "csv", "nnabla-cache", "mnist", ...
  io::DatasetPtr rows;
  // How many rows each file of a cache has, whose files are read whole (io::ShuffleBlocks).
  std::vector<int64_t> file_rows = {};
};

struct DataOptions {
  std::string format = "";  // "": told by the path and what lies there
  bool normalize = false;   // pictures as f32 from 0 to 1, else u8 from 0 to 255
  bool test = false;        // of MNIST and CIFAR the test images
  bool f64 = false;         // numbers in cells of CSV as f64, else f32
  bool round = false;       // whole numbers among them that it does not hold, else errors
  // Those that are wanted; others need not make sense. Empty: all.
  std::vector<std::string> variables = {};
};

// The format that a path is taken for, "" where it is none: a file with another end, or nothing at
// all.
std::string FormatOf(const std::string& path);

// Throws firn::Error where there is none, it is not of that format, or it has not these variables,
// of which MNIST, CIFAR and folders of images have x and y.
Data OpenData(const std::string& path, const DataOptions& options);

// Whether a cache in `destination` could take the place of the data set or lie among its files.
bool IsOrHolds(const std::string& destination, const std::string& source);

// The formats' names.
std::vector<std::string> DataFormats();

// Writes rows as a CSV data set: numbers as cells, vectors of at most 1024 numbers as columns
// x__0, x__1, ..., pictures as .png and other arrays as .npy, in the folder "<name>_files" beside
// it, or "<name>_files_2" and so on where that is there: no other table's files are replaced.
// Pictures are u8, or f32 whose elements times 255 are whole numbers. Throws firn::Error.
void WriteCsvData(const std::string& path, const io::Dataset& rows,
                  const std::function<void(int64_t rows)>& progress);

// Writes one of very many files, making its folder. Not by AtomicFile, which looks each time for
// what killed writers left in the folder: there may be a million files in it, and the table that
// names them comes last. Throws firn::Error.
void WriteOfMany(const std::string& path, const std::string& bytes);

// The numbers 0 to n - 1 in an order that `seed` decides.
std::vector<int64_t> ShuffledNumbers(int64_t n, uint64_t seed);

// n cut into parts as large as `ratios` (80 and 20, or 4 and 1), rounded down one after the other:
// where each ends. Throws unless the ratios are positive.
std::vector<int64_t> PartEnds(int64_t n, const std::vector<double>& ratios);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_DATA_FILES_H_
