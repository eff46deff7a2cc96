// A ZIP whose first file is the pickle, or one that PyTorch writes beside it; or the older layout,
// which begins with a number.
#include <algorithm>
#include <iterator>

#include "firn/io/formats/formats.h"
#include "firn/io/torch/torch.h"

namespace firn::io {

FIRN_FILE_FORMAT(torch) {
  return {
      .name = "PyTorch",
      .suffixes = {".pt", ".pth", ".bin", ".ckpt"},
      .recognises =
          [](const FileHead& head) {
            constexpr std::string_view kMembers[] = {"/data.pkl", "/version", "/byteorder",
                                                     "/constants.pkl"};
            const std::string_view first = head.FirstZipMember();
            return head.bytes.starts_with("\x80\x02\x8a\x0a") ||
                   std::any_of(std::begin(kMembers), std::end(kMembers),
                               [&](std::string_view name) { return first.ends_with(name); });
          },
      .read_tensors = [](const std::string& path,
                         const LoadOptions& options) { return LoadTorch(path, {.load = options}); },
      .write_tensors = [](const std::string& path,
                          const StateDict& state) { SaveTorch(path, state); }};
}

}  // namespace firn::io
