#ifndef FIRN_IO_TORCH_TORCH_STATUS_H_
#define FIRN_IO_TORCH_TORCH_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/torch/torch.h"

namespace firn::io {

// The functions of torch.h with a status.
absl::StatusOr<StateDict> TryLoadTorch(const std::string& path, const TorchOptions& options = {});
absl::Status TrySaveTorch(const std::string& path, const StateDict& state);
// A file in memory; `name` stands for the path in messages.
absl::StatusOr<StateDict> TryParseTorch(std::string_view bytes, const std::string& name,
                                        const TorchOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_TORCH_TORCH_STATUS_H_
