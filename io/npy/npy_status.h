#ifndef FIRN_IO_NPY_NPY_STATUS_H_
#define FIRN_IO_NPY_NPY_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/npy/npy.h"

namespace firn::io {

// ReadNpy and ReadNpz of bytes in memory, with a status; `name` stands for the path in messages.
absl::StatusOr<Tensor> TryParseNpy(std::string_view bytes, const std::string& name,
                                   const NpyOptions& options = {});
absl::StatusOr<StateDict> TryParseNpz(std::string_view bytes, const std::string& name,
                                      const NpyOptions& options = {});
// A .npy file in memory.
absl::StatusOr<std::string> TryFormatNpy(const Tensor& tensor);

}  // namespace firn::io

#endif  // FIRN_IO_NPY_NPY_STATUS_H_
