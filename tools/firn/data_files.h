#ifndef FIRN_TOOLS_FIRN_DATA_FILES_H_
#define FIRN_TOOLS_FIRN_DATA_FILES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firn/io/data/dataset.h"

namespace firn::cli {

// A data set of any kind that Firn reads.
struct Data {
  std::string format;  // "csv", "nnabla-cache", "mnist", ...
  io::DatasetPtr rows;
  // The number of rows in each file of a cache, whose files are read whole (io::ShuffleBlocks).
  std::vector<int64_t> file_rows = {};
};

struct DataOptions {
  std::string format = "";  // "": found by the path and what is there
  bool normalize = false;   // pictures as f32 from 0 to 1, else u8 from 0 to 255
  bool test = false;        // of MNIST and CIFAR the test images
  bool f64 = false;         // numbers in cells of CSV as f64, else f32
  bool round = false;       // rounds whole numbers that the type does not hold; else errors
  // The wanted variables; others need not make sense. Empty: all.
  std::vector<std::string> variables = {};
};

// The format of a path; "" if it is no data set: a file with another ending, or no file.
std::string FormatOf(const std::string& path);

// Throws firn::Error if there is no data set, it is not of that format, or it lacks the wanted
// variables (MNIST, CIFAR and folders of images have x and y).
Data OpenData(const std::string& path, const DataOptions& options);

// Whether a cache in `destination` could take the place of the data set or lie among its files.
bool IsOrHolds(const std::string& destination, const std::string& source);

// The formats' names.
std::vector<std::string> DataFormats();

// Writes rows as a CSV data set: numbers as cells, vectors of at most 1024 numbers as columns
// x__0, x__1, ..., pictures as .png and other arrays as .npy, in the folder "<name>_files" beside
// it, or "<name>_files_2" and so on if that exists: no other table's files are replaced. Pictures
// are u8, or f32 whose elements times 255 are whole numbers. Throws firn::Error.
void WriteCsvData(const std::string& path, const io::Dataset& rows,
                  const std::function<void(int64_t rows)>& progress);

// Writes one of very many files, making its folder. It does not use AtomicFile, which looks each
// time for files of killed writers in the folder: the folder may have a million files, and the
// table that names them is written last. Throws firn::Error.
void WriteOfMany(const std::string& path, const std::string& bytes);

// The numbers 0 to n - 1 in an order that `seed` decides.
std::vector<int64_t> ShuffledNumbers(int64_t n, uint64_t seed);

// n cut into parts as large as `ratios` (80 and 20, or 4 and 1), rounded down one after the other:
// returns the end of each. Throws unless the ratios are positive.
std::vector<int64_t> PartEnds(int64_t n, const std::vector<double>& ratios);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_DATA_FILES_H_
