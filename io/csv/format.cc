// A table of numbers is one tensor. A file of text has no signature, so only its name tells the
// format.
#include "firn/io/csv/csv.h"
#include "firn/io/formats/formats.h"

namespace firn::io {

FIRN_FILE_FORMAT(csv) {
  return {.name = "CSV",
          .holds = FileHolds::kTable,
          .suffixes = {".csv"},
          .read_suffixes = {".csv.gz"},
          .read_array = [](const std::string& path, const ReadArrayOptions& options) {
            return LoadCsv(
                path, {.dtype = options.dtype, .round = options.round, .limits = options.limits});
          }};
}

}  // namespace firn::io
