#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "firn/device/status_macros.h"
#include "firn/io/random_access.h"
#include "firn/io/torch/internal/torch_archive.h"
#include "firn/io/torch/torch_status.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

absl::StatusOr<StateDict> Read(const RandomAccess& file, const TorchOptions& options) {
  char first[512] = {};
  const int64_t n = std::min<int64_t>(file.size(), sizeof(first));
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, first, n, "signature"));
  const std::string_view begin(first, static_cast<size_t>(n));
  if (begin.starts_with("PK")) return internal::ReadTorchArchive(file, options);
  if (begin.starts_with(internal::kTorchStreamMagic)) {
    return internal::ReadTorchStream(file, options);
  }
  FIRN_RETURN_IF(
      begin.size() > 262 && begin.substr(257, 5) == "ustar",
      Unimplemented(file.name(), ": a tar file, as PyTorch wrote before 0.1.10, is not read"));
  FIRN_RETURN_IF(begin.size() > 8 && begin[8] == '{',
                 Unimplemented(file.name(), ": a safetensors file, which LoadSafetensors reads"));
  FIRN_RETURN_IF(begin.starts_with("\x80"),
                 Unimplemented(file.name(), ": a pickle, and not a file of torch.save"));
  return ExpectSignature(file, "PK", "a PyTorch file");
}

}  // namespace

absl::StatusOr<StateDict> TryLoadTorch(const std::string& path, const TorchOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
  return Read(*file, options);
}

absl::StatusOr<StateDict> TryParseTorch(std::string_view bytes, const std::string& name,
                                        const TorchOptions& options) {
  const auto file = RandomAccess::FromMemory(
      name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  return Read(*file, options);
}

StateDict LoadTorch(const std::string& path, const TorchOptions& options) {
  return ValueOrRaise(TryLoadTorch(path, options), "load_torch");
}

}  // namespace firn::io
