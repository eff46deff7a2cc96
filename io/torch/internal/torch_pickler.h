#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_PICKLER_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_PICKLER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Writes a pickle and the storages of its tensors as torch.load takes them, with the least of
// operations: none has a memo, and each tensor has a storage of its own. Thread-compatible.
class TorchPickler {
 public:
  TorchPickler() : bytes_("\x80\x02") {}

  void Text(std::string_view text);
  void Integer(int64_t value);
  void Number(double value);
  void None() { bytes_ += 'N'; }
  void Flag(bool value) { bytes_ += value ? "\x88" : "\x89"; }
  // Requires a tensor that CheckEntry accepts.
  void Add(const Tensor& tensor);
  // The values up to End..., or pairs of key and value, go into it.
  void BeginDict() { bytes_ += "}("; }
  void EndDict() { bytes_ += 'u'; }
  void BeginList() { bytes_ += "]("; }
  void EndList() { bytes_ += 'e'; }
  void BeginTuple() { bytes_ += '('; }
  void EndTuple() { bytes_ += 't'; }

  // Whether the entry of a dict can be written.
  static absl::Status CheckEntry(const std::string& name, const Tensor& tensor);
  // Replaces the file as a whole by one that holds the value that was written.
  absl::Status WriteTo(const std::string& path) const;

 private:
  void Sizes(const std::vector<int64_t>& sizes);

  std::string bytes_;
  std::vector<Tensor> tensors_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_PICKLER_H_
