// The columns of a table that stands in memory.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/csv.h"
#include "firn/io/dataset.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

// Columns of a table, which keep their order.
Tensor Columns(const Tensor& table, const std::vector<int64_t>& columns) {
  return IndexSelect(table, 1, FromVector(columns));
}

}  // namespace

DataSource ParseCsv(const Config& config) {
  const std::string file = config.Path(config.RequiredText("file"));
  const int64_t target = config.RequiredInteger("target", 0, 1 << 20);
  const bool classes = config.Choice("task", {"classes", "numbers"}, "classes") == "classes";
  io::CsvOptions options;
  options.skip_lines = config.Integer("skip_lines", 0, 0);
  const std::string separator = config.Text("separator", ",");
  if (separator.size() != 1) config.Refuse("separator", "expected one character");
  options.separator = separator[0];
  const std::vector<int64_t> inputs = config.Integers("inputs", {});
  if (std::count(inputs.begin(), inputs.end(), target) > 0) {
    config.Refuse("inputs", "the target is one of them");
  }
  return {[=] {
    TrainingData data;
    io::CsvOptions read = options;
    if (classes) data.names = read.categories[target] = io::LoadCsvWords(file, target, options);
    if (!inputs.empty()) {
      read.columns = inputs;
      read.columns.push_back(target);
    }
    const Tensor table = io::LoadCsv(file, read);
    const int64_t at = inputs.empty() ? target : table.size(1) - 1;
    std::vector<int64_t> others;
    for (int64_t i = 0; i < table.size(1); ++i) {
      if (i != at) others.push_back(i);
    }
    if (others.empty()) {
      RaiseStatus(InvalidArgument(file, ": expected columns beside the target, got none"), "data");
    }
    const Tensor y = Columns(table, {at});
    data.classes = classes;
    data.outputs = classes ? static_cast<int64_t>(data.names.size()) : 1;
    data.samples =
        io::FromTensors(Columns(table, others), classes ? y.To(DType::kI64).Reshape({-1}) : y);
    return data;
  }};
}

}  // namespace firn::cli
