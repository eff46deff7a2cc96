// A gzip file is one or more members, each a header, deflated data, a CRC and a length (RFC 1952);
// zlib checks the last two. What follows the last member must be another member, so rubbish after
// the end is an error, as is an end inside a member.
#include "firn/io/internal/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kBufferBytes = 64 << 10;
constexpr int64_t kMaxDeflateRatio = 1032;  // 258 bytes from two bits

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<RandomAccess> file) : ByteSource(std::move(file)) {}
  int64_t max_size() const override { return file().size(); }

 protected:
  absl::StatusOr<int64_t> ReadSome(void* out, int64_t n, const std::string& field) override {
    n = std::min(n, file().size() - offset());
    FIRN_RETURN_IF_ERROR(file().ReadAt(offset(), out, n, field));
    return n;
  }
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<RandomAccess> file)
      : ByteSource(std::move(file)), input_(static_cast<size_t>(kBufferBytes)) {}
  ~GzipSource() override {
    if (open_) inflateEnd(&stream_);
  }

  absl::Status Init() {
    open_ = inflateInit2(&stream_, 15 + 16) == Z_OK;  // any window size, gzip framing
    return open_ ? absl::OkStatus() : ResourceExhausted(name(), ": no memory to unpack gzip");
  }

  int64_t max_size() const override {
    return std::min(file().size(), std::numeric_limits<int64_t>::max() / kMaxDeflateRatio) *
           kMaxDeflateRatio;
  }

 protected:
  absl::StatusOr<int64_t> ReadSome(void* out, int64_t n, const std::string& field) override {
    const auto want = static_cast<uInt>(std::min<int64_t>(n, 1 << 30));
    stream_.next_out = static_cast<Bytef*>(out);
    stream_.avail_out = want;
    while (stream_.avail_out == want) {
      if (stream_.avail_in == 0) FIRN_RETURN_IF_ERROR(Refill());
      if (member_ended_) {
        if (stream_.avail_in == 0) return 0;
        FIRN_RETURN_IF(inflateReset(&stream_) != Z_OK, Internal(name(), ": inflateReset failed"));
        member_ended_ = false;
      }
      if (stream_.avail_in == 0) {
        return Damaged(name(), offset(), field, "the file ends inside its gzip data");
      }
      const int code = inflate(&stream_, Z_NO_FLUSH);
      member_ended_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END) {
        return Damaged(name(), offset(), field,
                       absl::StrCat("damaged gzip data before byte ", stored_at_, " of the file: ",
                                    stream_.msg != nullptr ? stream_.msg : "stream error"));
      }
    }
    return static_cast<int64_t>(want - stream_.avail_out);
  }

 private:
  // Afterwards there is input unless the file has ended.
  absl::Status Refill() {
    const int64_t n = std::min(kBufferBytes, file().size() - stored_at_);
    FIRN_RETURN_IF_ERROR(file().ReadAt(stored_at_, input_.data(), n, "gzip data"));
    stored_at_ += n;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(n);
    return absl::OkStatus();
  }

  std::vector<Bytef> input_;
  int64_t stored_at_ = 0;
  z_stream stream_{};
  bool open_ = false;
  bool member_ended_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Make(std::unique_ptr<RandomAccess> file) {
  unsigned char magic[2] = {};
  if (file->size() >= 2) FIRN_RETURN_IF_ERROR(file->ReadAt(0, magic, 2, "magic"));
  if (magic[0] != 0x1f || magic[1] != 0x8b) return std::make_unique<PlainSource>(std::move(file));
  auto gzip = std::make_unique<GzipSource>(std::move(file));
  FIRN_RETURN_IF_ERROR(gzip->Init());
  return gzip;
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  return Make(std::move(file));
}

absl::Status ByteSource::Read(void* out, int64_t n, const std::string& field) {
  int64_t done = 0;
  while (done < n) {
    FIRN_ASSIGN_OR_RETURN(const int64_t got,
                          ReadSome(static_cast<char*>(out) + done, n - done, field));
    if (got == 0) {
      return Damaged(name(), offset_ - done, field,
                     absl::StrCat("expected ", n, " bytes, got ", done, ": the file ends early"));
    }
    done += got;
    offset_ += got;
  }
  return absl::OkStatus();
}

absl::Status ByteSource::ExpectEnd() {
  char extra;
  FIRN_ASSIGN_OR_RETURN(const int64_t got, ReadSome(&extra, 1, "end"));
  if (got == 0) return absl::OkStatus();
  return Damaged(name(), offset_, "end", "expected the end of the file, got more bytes");
}

absl::StatusOr<int64_t> ByteSource::ReadUpTo(void* out, int64_t n, const std::string& field) {
  int64_t done = 0;
  while (done < n) {
    FIRN_ASSIGN_OR_RETURN(const int64_t got,
                          ReadSome(static_cast<char*>(out) + done, n - done, field));
    if (got == 0) break;
    done += got;
    offset_ += got;  // a plain file is read from there
  }
  return done;
}

absl::StatusOr<std::string> ByteSource::ReadAll(int64_t limit, const char* option) {
  std::string all;
  std::vector<char> buffer(static_cast<size_t>(kBufferBytes));
  for (;;) {
    FIRN_ASSIGN_OR_RETURN(const int64_t got, ReadSome(buffer.data(), kBufferBytes, "text"));
    if (got == 0) return all;
    offset_ += got;
    FIRN_RETURN_IF(offset_ > limit,
                   ResourceExhausted(name(), ": holds more than the ", limit, " bytes allowed",
                                     *option == 0 ? "" : " (", option, *option == 0 ? "" : ")"));
    all.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace firn::io::internal
