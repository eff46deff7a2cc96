#ifndef FIRN_IO_DATA_ROWS_H_
#define FIRN_IO_DATA_ROWS_H_

// Makes samples of an input and a target from data sets whose tensors have names, such as tables
// and caches, and the other way round:
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

// Samples of two of the tensors, without names. Throws firn::Error if no tensor has such a name; a
// sample throws if its target should be a class and is not one.
DatasetPtr Pick(DatasetPtr dataset, const PickOptions& options = {});

// The same samples with other names for input and target; further tensors are left out. If the
// first sample has one tensor, only that gets a name, and targets are left out.
DatasetPtr NameSamples(DatasetPtr dataset, const std::string& input = "x",
                       const std::string& target = "y");

}  // namespace firn::io

#endif  // FIRN_IO_DATA_ROWS_H_
