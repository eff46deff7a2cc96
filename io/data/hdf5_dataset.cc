// In memory by the parameters' reader, asked for two entries of the file.
#include "firn/io/data/hdf5_dataset.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/h5_rows.h"
#include "firn/io/data/internal/row_source.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/internal/value_or_raise.h"
#include "firn/io/parameters.h"
#include "firn/tensor/error.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "hdf5_dataset";

void CheckSameRows(const std::string& path, const Hdf5DatasetOptions& options, int64_t inputs,
                   int64_t targets) {
  if (inputs == targets) return;
  RaiseStatus(InvalidArgument(path, ": expected as many rows in ", options.target, " as in ",
                              options.input, ", ", inputs, ", got ", targets),
              kWho);
}

DatasetPtr RowsInFile(const std::string& path, const Hdf5DatasetOptions& options) {
  const auto open = [&](const std::string& name) {
    return internal::ValueOrRaise(
        internal::OpenH5Rows(path, name, options.limits, options.max_row_bytes), kWho);
  };
  std::unique_ptr<internal::RowSource> input = open(options.input), target;
  if (!options.target.empty()) {
    target = open(options.target);
    CheckSameRows(path, options, input->size(), target->size());
  }
  return internal::DatasetOfRows(path, std::move(input), std::move(target), kWho);
}

Tensor Rows(const StateDict& arrays, const std::string& path, const std::string& name,
            const std::set<std::string>& names) {
  const Tensor* found = arrays.Find(name);
  if (found == nullptr) {
    RaiseStatus(NotFound(path, ": expected an array called ", name, ", got none",
                         inner::internal::InsteadOf(name, {names.begin(), names.end()})),
                kWho);
  }
  if (found->rank() < 1) {
    RaiseStatus(Unimplemented(path, ", ", name, ": expected an array of rows, got a single number"),
                kWho);
  }
  return *found;
}

}  // namespace

DatasetPtr Hdf5Dataset(const std::string& path, const Hdf5DatasetOptions& options) {
  if (!options.in_memory) return RowsInFile(path, options);
  std::set<std::string> names;  // which may be asked for twice
  const StateDict arrays =
      Load(path, {.limits = options.limits, .want = [&](std::string_view name) {
                    names.emplace(name);
                    return name == options.input || name == options.target;
                  }});
  const Tensor input = Rows(arrays, path, options.input, names);
  if (options.target.empty()) return FromTensors(input);
  const Tensor target = Rows(arrays, path, options.target, names);
  CheckSameRows(path, options, input.size(0), target.size(0));
  return FromTensors(input, target);
}

std::vector<std::string> LoadHdf5Words(const std::string& path, const std::string& name,
                                       const LoadLimits& limits) {
  return internal::ValueOrRaise(TryLoadHdf5Words(path, name, limits), "load_hdf5_words");
}

}  // namespace firn::io
