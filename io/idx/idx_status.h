#ifndef FIRN_IO_IDX_IDX_STATUS_H_
#define FIRN_IO_IDX_IDX_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/idx/idx.h"

namespace firn::io {

// ReadIdx with a status.
absl::StatusOr<Tensor> TryReadIdx(const std::string& path, const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_IDX_IDX_STATUS_H_
