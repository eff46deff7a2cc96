#ifndef FIRN_IO_DATA_INTERNAL_ROW_SOURCE_H_
#define FIRN_IO_DATA_INTERNAL_ROW_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/io/data/dataset.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Rows of an array that stays in its file. Thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t size() const = 0;
  // These rows, one after the other; with `batch` their number is the first dimension, else there
  // is one row. Requires: indices in [0, size()).
  virtual absl::StatusOr<Tensor> Read(absl::Span<const int64_t> indices, bool batch) const = 0;
};

// Samples of rows with the same number, a tensor of each source. `name` stands for the file in
// names of samples, `who` for the function in errors. Requires: at least one source, all of one
// size; `names` is null or has a name for each.
DatasetPtr DatasetOfRows(std::string name, SampleNames names,
                         std::vector<std::unique_ptr<RowSource>> sources, const char* who);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_ROW_SOURCE_H_
