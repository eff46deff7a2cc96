#ifndef FIRN_IO_CSV_INTERNAL_CSV_RECORDS_H_
#define FIRN_IO_CSV_INTERNAL_CSV_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/internal/text_masks.h"

namespace firn::io::internal {

// Finds where the records of a CSV text end, which comes in pieces:
//
//   scanner.Feed(begin, end);
//   for (const char* p = begin; p != end && (p = scanner.Next()) != nullptr;) ...
//
// A record ends with its line, at \n, \r\n or \r alone, unless that stands in quotes which began a
// field (RFC 4180). Thread-compatible.
class RecordScanner {
 public:
  explicit RecordScanner(char separator) : separator_(separator) {}

  // Goes on with these bytes, which follow the ones before and live while they are gone through.
  void Feed(const char* begin, const char* end);
  // The end of the present record, behind its line's end; null if the piece ends first. It may be
  // the beginning of the piece, if a \r ended the last piece. Requires: the last end was not the
  // end of the piece.
  const char* Next() {
    if (next_ == last_ || lines_in_quotes_ != 0) [[unlikely]]
      return Search();
    inner_lines_ = begun_lines_;
    begun_lines_ = 0;
    return block_ + *next_++;
  }
  // How many lines ended inside of the quotes of the record that Next has found.
  int64_t inner_lines() const { return inner_lines_; }
  // Sets whether quotes have a meaning from `p` on, where a record begins. At first they have.
  void SetQuotes(bool quotes, const char* p = nullptr);

 private:
  using Masks = inner::internal::TextMasks;
  static constexpr int kAtOnce = 2;  // ends that are written at once
  // The state at the end of a piece, which the beginning of the next one depends on.
  struct Before {
    bool begins = true;    // a quote would begin a field
    bool closed = false;   // the last byte closed quotes, unless a quote follows
    bool returns = false;  // the last byte is a \r
  };

  // Whether a \r at the end of the last piece has no \n behind it.
  bool LoneReturnBefore() const { return before_.returns && *begin_ != '\n'; }
  const char* Search();
  bool NextBlock();
  void FindEnds();
  void CountLines(int end);
  uint64_t LoneReturns(const char* word, uint64_t returns) const;
  uint64_t InsideQuotes(const char* word, const Masks::Word& w);
  uint64_t ResolveQuotes(const char* word, uint64_t quotes, bool closed) const;
  bool EndsField(char c) const { return c == separator_ || c == '\n' || c == '\r'; }
  bool BeginsField(const char* at) const;
  void EndPiece();

  const char separator_;
  bool quotes_ = true;
  Before before_, left_;                          // for this piece, and for the next
  const char *begin_ = nullptr, *end_ = nullptr;  // of the piece
  const char* block_ = nullptr;                   // the block of the masks
  Masks masks_;
  uint64_t in_quotes_ = 0;  // all ones where quotes are open behind the block
  // The word behind the last one that was searched for quotes; the quotes of that last one that
  // closed a quoted text; and whether a quote behind its last byte would begin a field or go on
  // with one.
  const char* next_word_ = nullptr;
  uint64_t closing_ = 0;
  bool begins_ = false;
  // The ends of the block's records, as offsets in it; those from next_ on are still to be
  // returned.
  uint16_t ends_[Masks::kBytes + kAtOnce];  // NOLINT: set as far as last_
  const uint16_t *next_ = ends_, *last_ = ends_;
  // The words in which lines end within quotes and are not counted yet; the bits of `returns` tell
  // where.
  uint64_t lines_in_quotes_ = 0;
  int64_t begun_lines_ = 0, inner_lines_ = 0;
};

// A record without the end of its line.
std::string_view WithoutLineEnd(std::string_view record);

// Calls f(record, line) for each record of a text, `line` being the number of its first line, from
// 1; records come without their line's end, `next` gives the text piece by piece and at last an
// empty one, and `name` stands for the text in messages. In the first `raw_lines` lines quotes have
// no meaning. A byte order mark at the beginning is no part of the first record. ResourceExhausted
// for a record of more than `max_record` bytes that lies in several pieces.
absl::Status ForEachRecord(
    absl::FunctionRef<absl::StatusOr<std::string_view>()> next, const std::string& name,
    char separator, int64_t raw_lines, int64_t max_record,
    absl::FunctionRef<absl::Status(std::string_view record, int64_t line, bool ended)> f);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_RECORDS_H_
