// See Note [TFRecord files]. The length is believed once its checksum is right and it fits the
// file: nothing is allocated before.
#include "io/monitors/internal/records.h"

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "io/monitors/internal/crc32c.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kHeaderBytes = 12, kFooterBytes = 4;

std::string LittleEndian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
  return out;
}

uint64_t Number(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::string RecordOf(std::string_view data) {
  const std::string length = LittleEndian(data.size(), 8);
  return absl::StrCat(length, LittleEndian(MaskedCrc32c(length), 4), std::string(data),
                      LittleEndian(MaskedCrc32c(data), 4));
}

absl::StatusOr<std::optional<std::string>> RecordReader::Next(int64_t limit) {
  const int64_t left = file_.size() - offset_;
  if (left < kHeaderBytes) return std::nullopt;
  std::string header(kHeaderBytes, '\0');
  FIRN_RETURN_IF_ERROR(file_.ReadAt(offset_, header.data(), kHeaderBytes, "record length"));
  const std::string_view length(header.data(), 8);
  const uint64_t bytes = Number(length);
  const uint64_t length_crc = Number(std::string_view(header).substr(8));
  if (length_crc != MaskedCrc32c(length)) {
    return Damaged(file_.name(), offset_, "record length",
                   absl::StrCat("expected the checksum ", MaskedCrc32c(length), " of the length ",
                                bytes, ", got ", length_crc));
  }
  if (bytes > static_cast<uint64_t>(left - kHeaderBytes) ||
      left - kHeaderBytes - static_cast<int64_t>(bytes) < kFooterBytes) {
    return std::nullopt;
  }
  FIRN_RETURN_IF(static_cast<int64_t>(bytes) > limit,
                 ResourceExhausted(file_.name(), ": offset ", offset_, ", record length: ", bytes,
                                   " bytes (want at most ", limit, ")"));
  std::string data(static_cast<size_t>(bytes) + kFooterBytes, '\0');
  FIRN_RETURN_IF_ERROR(file_.ReadAt(offset_ + kHeaderBytes, data.data(),
                                    static_cast<int64_t>(data.size()), "record"));
  const uint64_t crc = Number(std::string_view(data).substr(static_cast<size_t>(bytes)));
  data.resize(static_cast<size_t>(bytes));
  if (crc != MaskedCrc32c(data)) {
    return Damaged(file_.name(), offset_ + kHeaderBytes, "record",
                   absl::StrCat("expected the checksum ", MaskedCrc32c(data), " of ", bytes,
                                " bytes, got ", crc));
  }
  offset_ += kHeaderBytes + static_cast<int64_t>(bytes) + kFooterBytes;
  return std::optional<std::string>(std::move(data));
}

}  // namespace firn::io::internal
