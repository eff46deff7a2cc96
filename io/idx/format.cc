// Two zeros, a type, how many dimensions. A packed file looks like any other gzip; tables and
// CIFAR's files are told by their names before this format is asked.
#include "firn/io/formats/formats.h"
#include "firn/io/idx/idx.h"

namespace firn::io {

FIRN_FILE_FORMAT(idx) {
  return {.name = "IDX",
          .recognises =
              [](const FileHead& head) {
                const std::string& b = head.bytes;
                if (b.starts_with("\x1f\x8b")) return true;
                return b.size() >= 4 && b[0] == 0 && b[1] == 0 && b[2] >= 8 && b[2] <= 14 &&
                       b[3] > 0;
              },
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return StateDict{{"elements", ReadIdx(path, options.limits)}};
              }};
}

}  // namespace firn::io
