#ifndef FIRN_IO_SAFETENSORS_SAFETENSORS_STATUS_H_
#define FIRN_IO_SAFETENSORS_SAFETENSORS_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/safetensors/safetensors.h"

namespace firn::io {

// The functions of safetensors.h with a status.
absl::StatusOr<StateDict> TryLoadSafetensors(const std::string& path,
                                             const SafetensorsOptions& options = {});
absl::Status TrySaveSafetensors(const std::string& path, const StateDict& state,
                                const SaveSafetensorsOptions& options = {});
// A file in memory, which is copied; `name` stands for the path in messages.
absl::StatusOr<StateDict> TryParseSafetensors(std::string_view bytes, const std::string& name,
                                              const SafetensorsOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_SAFETENSORS_SAFETENSORS_STATUS_H_
