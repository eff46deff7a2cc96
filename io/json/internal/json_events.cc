#include "firn/io/json/internal/json_events.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "nlohmann/json.hpp"

namespace firn::io::internal {
namespace {

using nlohmann::json;

// The functions that the library calls. It goes on while they return true.
class Sax final : public nlohmann::json_sax<json> {
 public:
  Sax(int max_depth, JsonEvents* events) : left_(max_depth), events_(events) {}

  const absl::Status& status() const { return status_; }

  bool null() override { return Take(events_->Null()); }
  bool boolean(bool value) override { return Take(events_->Bool(value)); }
  // Only of negative ones.
  bool number_integer(int64_t value) override {
    return Take(events_->Number(static_cast<double>(value), absl::StrCat(value)));
  }
  bool number_unsigned(uint64_t value) override { return Take(events_->Whole(value)); }
  bool number_float(double value, const std::string& text) override {
    return Take(events_->Number(value, text));
  }
  bool string(std::string& text) override { return Take(events_->String(std::move(text))); }
  bool binary(binary_t&) override { return false; }  // of other formats than text
  bool start_object(size_t) override { return Open() && Take(events_->BeginObject()); }
  bool key(std::string& name) override { return Take(events_->Key(std::move(name))); }
  bool end_object() override { return Close(events_->EndObject()); }
  bool start_array(size_t) override { return Open() && Take(events_->BeginArray()); }
  bool end_array() override { return Close(events_->EndArray()); }

  bool parse_error(size_t at, const std::string& last, const json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing
    // value - unexpected ']'; expected ...": the words behind the place.
    std::string_view what = error.what();
    const size_t place = what.find(": ");
    if (place != what.npos) what.remove_prefix(place + 2);
    if (const size_t read = what.find("; last read:"); read != what.npos)
      what = what.substr(0, read);
    constexpr size_t kShown = 40;
    status_ = DataLoss("byte ", at, ": expected JSON, got ",
                       firn::inner::internal::JsonString(std::string_view(last).substr(0, kShown)),
                       ": ", std::string(what));
    return false;
  }

 private:
  bool Take(absl::Status status) {
    if (status.ok()) return true;
    status_ = std::move(status);
    return false;
  }
  bool Open() {
    if (left_-- > 0) return true;
    status_ = ResourceExhausted("brackets in more brackets than allowed (limits.max_depth)");
    return false;
  }
  bool Close(absl::Status status) {
    ++left_;
    return Take(std::move(status));
  }

  int left_;
  JsonEvents* events_;
  absl::Status status_;
};

}  // namespace

absl::Status ReadJson(std::string_view text, int max_depth, JsonEvents* events) {
  // The library would skip it.
  FIRN_RETURN_IF(text.starts_with("\xef\xbb\xbf"),
                 DataLoss("byte 1: expected JSON, got a byte order mark"));
  // The library would take it for the end.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    return DataLoss("byte ", zero + 1, ": expected JSON, got a zero byte");
  }
  Sax sax(max_depth, events);
  const bool whole = json::sax_parse(text.begin(), text.end(), &sax);
  if (!sax.status().ok()) return sax.status();
  FIRN_RETURN_IF(!whole, DataLoss("byte 1: expected JSON"));
  return absl::OkStatus();
}

}  // namespace firn::io::internal
