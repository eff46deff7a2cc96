#ifndef FIRN_IO_DATA_ROWS_H_
#define FIRN_IO_DATA_ROWS_H_

// Data sets of more than an input and a target: rows of named tensors, as tables and caches hold
// them. Two of the names make samples to train with:
//
//   io::DatasetPtr train = io::Pick(io::CsvRows("train.csv"), {.input = "x", .target = "y"});

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// Numbered rows, each a tensor for each variable. Thread-safe, as data sets are.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual int64_t size() const = 0;
  // The variables' names, each once.
  virtual const std::vector<std::string>& variables() const = 0;
  // The tensors of row `i` in the order of the variables. Throws OutOfRange unless 0 <= i < size(),
  // and what the subclass throws.
  virtual std::vector<Tensor> Get(int64_t i) const = 0;
};

// Shared, and never changed. The functions below throw where one is null.
using RowsPtr = std::shared_ptr<const Rows>;

struct PickOptions {
  std::string input = "x";
  std::string target = "y";  // "": samples have no target
  // The target is one number in each row, whole and not negative: a class. It becomes i64 [], which
  // the losses of classes take.
  bool target_is_class = false;
};

// Samples of two of the variables. Throws firn::Error where there are no such variables; a sample
// throws where its target is to be a class and is none.
DatasetPtr Pick(RowsPtr rows, const PickOptions& options = {});

// Rows of these indices, in this order; an index may be repeated. Throws where one is out of range.
RowsPtr Subset(RowsPtr rows, std::vector<int64_t> indices);

// The samples of a dataset as rows: the other way round. Without a target where the first sample
// has none.
RowsPtr NameSamples(DatasetPtr dataset, const std::string& input = "x",
                    const std::string& target = "y");

}  // namespace firn::io

#endif  // FIRN_IO_DATA_ROWS_H_
