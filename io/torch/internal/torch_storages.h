#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_STORAGES_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_STORAGES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/torch/internal/torch_types.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Access to the elements of a file's storages.
class TorchFile {
 public:
  virtual ~TorchFile() = default;
  virtual const std::string& name() const = 0;
  virtual bool big_endian() const { return false; }
  // How many bytes the storage of this key has; NotFound where there is none.
  virtual absl::StatusOr<int64_t> BytesOf(const std::string& key) const = 0;
  // Reads them.
  virtual absl::Status Read(const std::string& key, char* out) const = 0;
};

// The storages of a file as tensors of one dimension, each read once. Thread-compatible.
class TorchStorages {
 public:
  // Both must outlive this.
  TorchStorages(const TorchFile& file, const LoadLimits& limits, bool widen)
      : file_(file), widen_(widen), limits_(limits), left_(limits.max_total_bytes) {}

  // The storage of `n` elements of the type. DataLoss if the file has another number of elements,
  // or an earlier call asked for another number or type; Unimplemented for a type that no dtype can
  // hold.
  absl::StatusOr<Tensor> Get(const std::string& key, const TorchType& type, int64_t n);

 private:
  struct Storage {
    const TorchType* type;
    Tensor elements;
  };
  const TorchFile& file_;
  const bool widen_;
  const LoadLimits& limits_;
  int64_t left_;
  absl::flat_hash_map<std::string, Storage> storages_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_STORAGES_H_
