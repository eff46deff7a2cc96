#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_TYPES_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_TYPES_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "firn/tensor/dtype.h"

namespace firn::io::internal {

// A type of elements: how PyTorch calls the class of storages of it (empty where it has none) and
// the dtype, how the safetensors format calls it, which knows how elements become a dtype, and the
// bytes of one.
struct TorchType {
  std::string_view storage;
  std::string_view dtype;
  std::string_view word;
  int bytes;
};

// Null for others.
const TorchType* FindTorchStorage(std::string_view storage);
const TorchType* FindTorchDType(std::string_view dtype);
const TorchType& TorchTypeOf(DType dtype);

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_TYPES_H_
