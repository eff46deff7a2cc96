#ifndef FIRN_IO_NNABLA_MODEL_NNB_FILE_STATUS_H_
#define FIRN_IO_NNABLA_MODEL_NNB_FILE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/nnabla_model/nnb_file.h"

namespace firn::io {

// SaveNnb with a status.
absl::Status TrySaveNnb(const std::string& path, const nnabla::Model& model,
                        const SaveNnbOptions& options = {});
// The bytes of the file.
absl::StatusOr<std::string> NnbBytes(const nnabla::Model& model,
                                     const SaveNnbOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_MODEL_NNB_FILE_STATUS_H_
