// See Note [TFRecord files]. The length is used only after its checksum is right and it fits the
// file, so a false length allocates nothing.
#include "firn/io/monitors/tfrecord.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/monitors/internal/crc32c.h"

namespace firn::io {
namespace {

using internal::AppendLittleEndian;
using internal::LittleEndian;
using internal::MaskedCrc32c;

constexpr int64_t kHeaderBytes = 12, kFooterBytes = 4;

}  // namespace

std::string RecordOf(std::string_view data) {
  std::string record;
  record.reserve(kHeaderBytes + data.size() + kFooterBytes);
  AppendLittleEndian(&record, data.size(), 8);
  AppendLittleEndian(&record, MaskedCrc32c(record), 4);
  record += data;
  AppendLittleEndian(&record, MaskedCrc32c(data), 4);
  return record;
}

absl::StatusOr<std::optional<std::string>> RecordReader::Next(int64_t limit, const char* option) {
  const int64_t left = file_.size() - offset_;
  if (left < kHeaderBytes) return std::nullopt;
  std::string header(kHeaderBytes, '\0');
  FIRN_RETURN_IF_ERROR(file_.ReadAt(offset_, header.data(), kHeaderBytes, "record length"));
  const std::string_view length(header.data(), 8);
  const uint64_t bytes = LittleEndian(length);
  const uint64_t length_crc = LittleEndian(std::string_view(header).substr(8));
  if (length_crc != MaskedCrc32c(length)) {
    return Damaged(file_.name(), offset_, "record length",
                   absl::StrCat("expected the checksum ", MaskedCrc32c(length), " of the length ",
                                bytes, ", got ", length_crc));
  }
  if (bytes > static_cast<uint64_t>(left - kHeaderBytes) ||
      left - kHeaderBytes - static_cast<int64_t>(bytes) < kFooterBytes) {
    return std::nullopt;
  }
  FIRN_RETURN_IF(
      static_cast<int64_t>(bytes) > limit,
      ResourceExhausted(file_.name(), ": offset ", offset_, ", record length: ", bytes,
                        " bytes (want at most ", limit, *option == 0 ? "" : ", ", option, ")"));
  std::string data(static_cast<size_t>(bytes) + kFooterBytes, '\0');
  FIRN_RETURN_IF_ERROR(file_.ReadAt(offset_ + kHeaderBytes, data.data(),
                                    static_cast<int64_t>(data.size()), "record"));
  const uint64_t crc = LittleEndian(std::string_view(data).substr(static_cast<size_t>(bytes)));
  data.resize(static_cast<size_t>(bytes));
  if (crc != MaskedCrc32c(data)) {
    return Damaged(file_.name(), offset_ + kHeaderBytes, "record",
                   absl::StrCat("expected the checksum ", MaskedCrc32c(data), " of ", bytes,
                                " bytes, got ", crc));
  }
  offset_ += kHeaderBytes + static_cast<int64_t>(bytes) + kFooterBytes;
  return std::optional<std::string>(std::move(data));
}

}  // namespace firn::io
