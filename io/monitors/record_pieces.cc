#include "firn/io/monitors/record_pieces.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io {
namespace {

constexpr int64_t kPiece = 1 << 20;

}  // namespace

absl::Status ForEachRecord(const RandomAccess& file, int64_t most,
                           absl::FunctionRef<size_t(std::string_view)> split,
                           absl::FunctionRef<absl::Status(std::string_view record)> take,
                           int64_t* offset) {
  const int64_t first = std::min(kPiece, most);
  int64_t piece = first;
  std::string text;
  while (*offset < file.size()) {
    const int64_t n = std::min(piece, file.size() - *offset);
    text.resize(static_cast<size_t>(n));
    FIRN_RETURN_IF_ERROR(file.ReadAt(*offset, text.data(), n, "text"));
    const int64_t before = *offset;
    std::string_view rest = text;
    for (size_t length; (length = split(rest)) != 0; rest.remove_prefix(length)) {
      const absl::Status status = take(rest.substr(0, length));
      if (!status.ok()) {
        return absl::Status(status.code(), absl::StrCat(file.name(), ": offset ", *offset, ": ",
                                                        std::string(status.message())));
      }
      *offset += static_cast<int64_t>(length);
    }
    if (*offset > before) {
      piece = first;
      continue;
    }
    if (before + n == file.size()) break;  // a partial last record
    FIRN_RETURN_IF(piece >= most, ResourceExhausted(file.name(), ": offset ", before,
                                                    ": a record of more than ", most, " bytes"));
    piece = std::min(2 * piece, most);
  }
  return absl::OkStatus();
}

}  // namespace firn::io
