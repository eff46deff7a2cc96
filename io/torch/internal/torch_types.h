#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_TYPES_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_TYPES_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "firn/tensor/dtype.h"

namespace firn::io::internal {

// A type of elements: PyTorch's name for its class of storages (empty if there is none) and for its
// dtype; its word in the safetensors format, whose code converts the elements; and the bytes of an
// element.
struct TorchType {
  std::string_view storage;
  std::string_view dtype;
  std::string_view word;
  int bytes;
};

// Null for unknown types.
const TorchType* FindTorchStorage(std::string_view storage);
const TorchType* FindTorchDType(std::string_view dtype);
const TorchType& TorchTypeOf(DType dtype);

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_TYPES_H_
