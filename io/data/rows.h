#ifndef FIRN_IO_DATA_ROWS_H_
#define FIRN_IO_DATA_ROWS_H_

// Data sets whose tensors have names, as those of tables and caches have, made into samples of an
// input and a target, and the other way round:
//
//   io::DatasetPtr train = io::Pick(io::CsvRows("train.csv"), {.input = "x", .target = "y"});

#include <string>

#include "firn/io/data/dataset.h"

namespace firn::io {

struct PickOptions {
  std::string input = "x";
  std::string target = "y";  // "": samples have no target
  // The target is one number in each row, whole and not negative: a class. It becomes i64 [], which
  // the losses of classes take.
  bool target_is_class = false;
};

// Samples of two of the tensors, without names. Throws firn::Error where there are none called so;
// a sample throws where its target is to be a class and is none.
DatasetPtr Pick(DatasetPtr dataset, const PickOptions& options = {});

// The same samples under other names: of the input, the target, and of further tensors none. One
// name where the first sample has one tensor.
DatasetPtr NameSamples(DatasetPtr dataset, const std::string& input = "x",
                       const std::string& target = "y");

}  // namespace firn::io

#endif  // FIRN_IO_DATA_ROWS_H_
