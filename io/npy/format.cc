// .npy and .npz.
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/npy/npy.h"
#include "firn/tensor/error.h"

namespace firn::io {

// When read, its one array is called "array"; when written, it may have any name.
FIRN_FILE_FORMAT(npy) {
  return {.name = "NPY",
          .suffixes = {".npy"},
          .recognises = [](const FileHead& head) { return head.bytes.starts_with("\x93NUMPY"); },
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return StateDict{{"array", ReadNpy(path, {.limits = options.limits})}};
              },
          .write_tensors =
              [](const std::string& path, const StateDict& state) {
                if (state.size() != 1) {
                  RaiseStatus(
                      InvalidArgument("'", path, "' holds one array (want a dict of one tensor, ",
                                      "got ", state.size(), "; .npz has as many as you like)"),
                      "npy");
                }
                WriteNpy(path, state.begin()->second);
              },
          .widened = {DType::kBF16},
          .read_array =
              [](const std::string& path, const ReadArrayOptions& options) {
                return ReadNpy(path, {.limits = options.limits});
              }};
}

// A ZIP whose first file is an array, or that has none at all.
FIRN_FILE_FORMAT(npz) {
  return {.name = "NPZ",
          .suffixes = {".npz"},
          .recognises =
              [](const FileHead& head) {
                return head.FirstZipMember().ends_with(".npy") ||
                       head.bytes.starts_with("PK\x05\x06");
              },
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return ReadNpz(path, {.limits = options.limits});
              },
          .write_tensors = [](const std::string& path,
                              const StateDict& state) { WriteNpz(path, state); },
          .widened = {DType::kBF16}};
}

}  // namespace firn::io
