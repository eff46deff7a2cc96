#ifndef FIRN_IO_INTERNAL_CSV_RECORDS_H_
#define FIRN_IO_INTERNAL_CSV_RECORDS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace firn::io::internal {

// Finds where the records of a CSV text end, which comes in pieces:
//
//   scanner.Feed(begin, end);
//   for (const char* p = begin; p != end && (p = scanner.Next(p)) != nullptr;) ...
//
// A record ends with its line, at \n, \r\n or \r alone, unless that stands in quotes which began a
// field (RFC 4180). Thread-compatible.
class RecordScanner {
 public:
  explicit RecordScanner(char separator) : separator_(separator) {}

  // Goes on with these bytes, which follow the ones before and live while they are gone through.
  void Feed(const char* begin, const char* end);
  // Where the record ends that goes on at `p`, behind its line's end; null where the piece ends
  // first. It may be `p` itself, for a \r that ended the last piece. Requires: p is not the end.
  const char* Next(const char* p) {
    if (state_ == State::kFresh) [[likely]] {
      inner_lines_ = 0;
      if (feed_ < p) feed_ = Find('\n', p);
      if (feed_ != end_ && (quote_ >= p ? quote_ : FindQuote(p)) > feed_) [[likely]] {
        if (return_ < p) return_ = Find('\r', p);
        if (return_ > feed_ || return_ + 1 == feed_) return feed_ + 1;
      }
    }
    return Walk(p);
  }
  // How many lines ended inside of the quotes of the record that Next has found.
  int64_t inner_lines() const { return inner_lines_; }
  // Whether quotes mean something; they do from the start.
  void SetQuotes(bool quotes);

 private:
  enum class State : char {
    kFresh,        // a record begins
    kField,        // in a field that no quote can begin any more
    kStart,        // before a field of the record
    kQuoted,       // in quotes
    kQuoteInside,  // behind a quote in quotes, which ends them unless another follows
    kReturn,       // behind a \r, which ended the record
  };

  const char* Find(char c, const char* p) const {
    const void* const found = std::memchr(p, c, static_cast<size_t>(end_ - p));
    return found == nullptr ? end_ : static_cast<const char*>(found);
  }
  const char* FindQuote(const char* p) { return quote_ = quotes_ ? Find('"', p) : end_; }
  const char* Walk(const char* p);
  const char* WalkQuoted(const char* p);
  bool BeginsField(const char* segment, const char* at) const;

  const char separator_;
  bool quotes_ = true;
  State state_ = State::kFresh;
  bool return_before_ = false;  // in quotes: the byte before was a \r
  int64_t inner_lines_ = 0;
  const char *begin_ = nullptr, *end_ = nullptr;  // of the piece
  // The next of each at or behind the place that was last asked for, the piece's beginning at
  // first; end_ where there is none.
  const char *feed_ = nullptr, *return_ = nullptr, *quote_ = nullptr;
};

// A record without the end of its line.
std::string_view WithoutLineEnd(std::string_view record);

// Calls f(record, line) for each record of a text, `line` being the number of its first line, from
// 1; records come without their line's end, `next` gives the text piece by piece and at last an
// empty one, `name` is its in messages. The first `raw_lines` lines are not looked into for quotes.
// A byte order mark at the beginning is no part of the first record. ResourceExhausted for a record
// of more than `max_record` bytes that lies in several pieces.
absl::Status ForEachRecord(
    absl::FunctionRef<absl::StatusOr<std::string_view>()> next, const std::string& name,
    char separator, int64_t raw_lines, int64_t max_record,
    absl::FunctionRef<absl::Status(std::string_view record, int64_t line, bool ended)> f);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_CSV_RECORDS_H_
