#include "firn/device/status_macros.h"
#include "firn/io/torch/internal/torch_pickler.h"
#include "firn/io/torch/torch_status.h"
#include "firn/tensor/error.h"

namespace firn::io {

absl::Status TrySaveTorch(const std::string& path, const StateDict& state) {
  for (const auto& [name, tensor] : state) {
    FIRN_RETURN_IF_ERROR(internal::TorchPickler::CheckEntry(name, tensor));
  }
  internal::TorchPickler pickler;
  pickler.BeginDict();
  for (const auto& [name, tensor] : state) {
    pickler.Text(name);
    pickler.Add(tensor);
  }
  pickler.EndDict();
  return pickler.WriteTo(path);
}

void SaveTorch(const std::string& path, const StateDict& state) {
  RaiseIfError(TrySaveTorch(path, state), "save_torch");
}

}  // namespace firn::io
