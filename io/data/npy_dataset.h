#ifndef FIRN_IO_DATA_NPY_DATASET_H_
#define FIRN_IO_DATA_NPY_DATASET_H_

#include <string>

#include "firn/io/data/dataset.h"
#include "firn/io/npy/npy.h"

namespace firn::io {

struct NpyDatasetOptions {
  std::string target = {};  // path of the targets; "": samples have none
  bool void_is_bf16 = false;
  int64_t max_row_bytes = int64_t{1} << 30;  // of one sample
};

// The rows of an array in a .npy file, which may be larger than memory: sample i is row i, read
// when it is asked for, and `target` has the targets in the same way; Zip puts more of them
// together, under names. Arrays must be those that ReadNpy reads, row-major, of rank 1 or more,
// with rows that have elements. The files must stay as they are. Thread-safe. Throws firn::Error as
// ReadNpy does, Unimplemented for other arrays; InvalidArgument where the files have different
// numbers of rows. Samples throw DataLoss for elements that the dtype does not have and for a file
// that became shorter.
DatasetPtr NpyDataset(const std::string& input, const NpyDatasetOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_NPY_DATASET_H_
