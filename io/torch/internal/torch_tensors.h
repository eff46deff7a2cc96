#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_TENSORS_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_TENSORS_H_

#include "absl/status/statusor.h"
#include "firn/io/torch/internal/pickle.h"
#include "firn/io/torch/internal/torch_storages.h"
#include "firn/io/torch/torch.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// The tensors of what was saved, by their paths.
absl::StatusOr<StateDict> TorchTensors(const Pickle& pickle, const TorchFile& file,
                                       const TorchOptions& options);

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_TENSORS_H_
