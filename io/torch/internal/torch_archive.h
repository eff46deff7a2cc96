#ifndef FIRN_IO_TORCH_INTERNAL_TORCH_ARCHIVE_H_
#define FIRN_IO_TORCH_INTERNAL_TORCH_ARCHIVE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/random_access.h"
#include "firn/io/torch/torch.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// Files of PyTorch 1.6 and later: a ZIP with the pickle "<root>/data.pkl" and the storages
// "<root>/data/<key>".
absl::StatusOr<StateDict> ReadTorchArchive(const RandomAccess& file, const TorchOptions& options);

// Files of before: several pickles in a row, the storages behind them.
absl::StatusOr<StateDict> ReadTorchStream(const RandomAccess& file, const TorchOptions& options);

// The bytes with which these older files begin.
inline constexpr std::string_view kTorchStreamMagic =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e";

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_TORCH_ARCHIVE_H_
