#ifndef FIRN_IO_NNABLA_MODEL_NNABLA_FILE_STATUS_H_
#define FIRN_IO_NNABLA_MODEL_NNABLA_FILE_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/nnabla_model/nnabla_expand.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/nnabla_model/nnb_file.h"

namespace firn::io {

// The functions of nnabla_file.h, nnb_file.h and nnabla_expand.h with a status.
absl::StatusOr<nnabla::Model> TryLoadNnabla(const std::string& path,
                                            const LoadOptions& options = {});
absl::Status TrySaveNnabla(const std::string& path, const nnabla::Model& model);
// A file in memory; `name` stands for the path, also where it tells what the file is.
absl::StatusOr<nnabla::Model> TryParseNnabla(std::string_view bytes, const std::string& name,
                                             const LoadOptions& options = {});

absl::Status TrySaveNnb(const std::string& path, const nnabla::Model& model,
                        const SaveNnbOptions& options = {});
// The bytes of that file.
absl::StatusOr<std::string> TryNnbBytes(const nnabla::Model& model,
                                        const SaveNnbOptions& options = {});

namespace nnabla {
absl::StatusOr<Network> TryExpand(const Network& network, const ExpandOptions& options = {});
}  // namespace nnabla

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_MODEL_NNABLA_FILE_STATUS_H_
