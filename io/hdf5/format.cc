// The signature stands at the beginning, or behind a user block of 512 bytes, or twice as many, ...
#include "firn/io/formats/formats.h"
#include "firn/io/hdf5/hdf5.h"

namespace firn::io {

FIRN_FILE_FORMAT(hdf5) {
  return {.name = "HDF5",
          .suffixes = {".h5", ".hdf5"},
          .recognises =
              [](const FileHead& head) {
                constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n");
                if (head.bytes.starts_with(kSignature)) return true;
                for (int64_t at = 512;; at *= 2) {
                  const std::string bytes = head.at(at, kSignature.size());
                  if (bytes == kSignature) return true;
                  if (bytes.size() < kSignature.size()) return false;
                }
              },
          .read_tensors = [](const std::string& path,
                             const LoadOptions& options) { return LoadHdf5(path, options); },
          .write_tensors = [](const std::string& path,
                              const StateDict& state) { SaveHdf5(path, state); }};
}

}  // namespace firn::io
