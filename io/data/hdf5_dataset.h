#ifndef FIRN_IO_DATA_HDF5_DATASET_H_
#define FIRN_IO_DATA_HDF5_DATASET_H_

#include <string>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/io/load_limits.h"

namespace firn::io {

struct Hdf5DatasetOptions {
  std::string input = "x";
  std::string target = "y";  // "": samples have no target
  // In place of input and target: the arrays, whose names the samples' tensors get.
  std::vector<std::string> variables = {};
  // false: a sample is read when it is asked for, and the arrays may be larger than memory.
  bool in_memory = true;
  int64_t max_row_bytes = int64_t{1} << 30;  // of one sample, if not in memory
  LoadLimits limits = {};
};

// Arrays of an HDF5 file, by the names that io::Load gives them ("group/x" is "group.x"), as a data
// set: sample i is row i of each. Other content of the file is not read. Throws firn::Error, as
// Load; NotFound where one is missing, with the names that there are, Unimplemented where it has no
// rows to number, InvalidArgument where they have different numbers of them.
//
// With `.in_memory = false` the file must stay as it is, rows must have elements, and checksums of
// whole arrays are not looked at. If the file keeps an array in chunks, the chunks around the rows
// read last stay in memory, unpacked, for up to four places. Reading rows in order, or in the order
// of ShuffleBlocks with blocks of as many rows as a chunk has, unpacks each chunk once; reading in
// random order unpacks one for each sample. Then `limits.max_total_bytes` bounds those chunks.
// Thread-safe.
DatasetPtr Hdf5Dataset(const std::string& path, const Hdf5DatasetOptions& options = {});

// The strings of an HDF5 file that a dataset of it has, such as the names of classes, row-major;
// `name` as above. Throws firn::Error, as Load: NotFound where there is none of that name,
// Unimplemented where it holds no strings. io/hdf5/hdf5.h has it with a status.
std::vector<std::string> LoadHdf5Words(const std::string& path, const std::string& name,
                                       const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_HDF5_DATASET_H_
