// The parameters' reader, asked for two entries of the file.
#include "io/hdf5_dataset.h"

#include <string_view>

#include "device/status_macros.h"
#include "io/parameters.h"
#include "tensor/error.h"
#include "tensor/state_dict.h"

namespace firn::io {
namespace {

Tensor Rows(const StateDict& arrays, const std::string& path, const std::string& name) {
  const Tensor* found = arrays.Find(name);
  if (found == nullptr) {
    RaiseStatus(NotFound(path, ": expected an array called ", name, ", got none"), "hdf5_dataset");
  }
  if (found->rank() < 1) {
    RaiseStatus(DataLoss(path, ", ", name, ": expected an array of rows, got a single number"),
                "hdf5_dataset");
  }
  return *found;
}

}  // namespace

DatasetPtr Hdf5Dataset(const std::string& path, const Hdf5DatasetOptions& options) {
  const StateDict arrays =
      Load(path, {.limits = options.limits, .want = [&](std::string_view name) {
                    return name == options.input || name == options.target;
                  }});
  const Tensor input = Rows(arrays, path, options.input);
  if (options.target.empty()) return FromTensors(input);
  const Tensor target = Rows(arrays, path, options.target);
  if (target.size(0) != input.size(0)) {
    RaiseStatus(DataLoss(path, ": expected as many rows in ", options.target, " as in ",
                         options.input, ", ", input.size(0), ", got ", target.size(0)),
                "hdf5_dataset");
  }
  return FromTensors(input, target);
}

}  // namespace firn::io
