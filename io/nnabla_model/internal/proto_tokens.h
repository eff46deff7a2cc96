#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_TOKENS_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_TOKENS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace firn::io::internal {

// A word of a text of protocol buffers. A view of the text.
struct ProtoToken {
  enum Kind { kEnd, kName, kNumber, kString, kMark } kind = kEnd;
  std::string_view text;  // a string with its quotes; a mark is one byte
  size_t at = 0;          // where it begins in the text

  bool Is(char mark) const { return kind == kMark && text[0] == mark; }
};

// Goes through the words; blanks and comments (from # to the end of a line) are between them. A
// string ends with its line if no quote ends it. Thread-compatible.
class ProtoTokens {
 public:
  explicit ProtoTokens(std::string_view text) : text_(text) { Advance(); }

  const ProtoToken& now() const { return now_; }
  ProtoToken Take() {
    const ProtoToken taken = now_;
    Advance();
    return taken;
  }
  bool TakeIf(char mark) {
    const bool is = now_.Is(mark);
    if (is) Advance();
    return is;
  }
  // "line 3, column 5", counted from 1, of a place in the text.
  std::string PlaceOf(size_t at) const;

 private:
  void Advance();
  size_t EndOf(size_t at) const;

  const std::string_view text_;
  size_t at_ = 0;
  ProtoToken now_;
};

// A number without its sign: decimal, 0x hexadecimal or 0 octal; none if it is another, or above
// 2^64 - 1.
std::optional<uint64_t> ProtoWhole(std::string_view text);

// A decimal number with or without a point, an exponent and an f behind it, or inf, infinity or nan
// in any case. A number that is too large becomes infinite.
std::optional<double> ProtoReal(std::string_view text);

// The value of a string with its quotes. DataLoss, without a place, says what was expected instead.
absl::StatusOr<std::string> ProtoUnquote(std::string_view text);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_TOKENS_H_
