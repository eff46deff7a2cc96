// Most lines hold neither a quote nor a \r in their middle: for them one search for \n is all, the
// places of the next quote and the next \r being remembered from line to line. The others are
// walked through from quote to quote, in time linear in the record whatever stands in it.
#include "firn/io/internal/csv_records.h"

#include <algorithm>
#include <string>

#include "firn/device/status_macros.h"
#include "firn/io/internal/csv_line.h"

namespace firn::io::internal {

void RecordScanner::Feed(const char* begin, const char* end) {
  begin_ = begin;
  end_ = end;
  feed_ = Find('\n', begin);
  return_ = Find('\r', begin);
  FindQuote(begin);
}

void RecordScanner::SetQuotes(bool quotes) {
  quotes_ = quotes;
  if (end_ != nullptr) FindQuote(begin_);
}

// Whether a quote at `at` would begin a field: there are only blanks before it, up to a separator
// or the beginning of what the present state is about.
bool RecordScanner::BeginsField(const char* segment, const char* at) const {
  while (at != segment && at[-1] != separator_ && IsBlank(at[-1])) --at;
  return at == segment ? state_ == State::kStart : at[-1] == separator_;
}

// From within quotes to behind them; null where the piece ends first.
const char* RecordScanner::WalkQuoted(const char* p) {
  for (;;) {
    if (state_ == State::kQuoteInside) {
      if (p == end_) return nullptr;
      if (*p != '"') {
        state_ = State::kField;
        return p;
      }
      ++p;
      state_ = State::kQuoted;
      return_before_ = false;
    }
    if (quote_ < p) FindQuote(p);
    if (feed_ < p) feed_ = Find('\n', p);
    if (return_ < p) return_ = Find('\r', p);
    if (std::min(feed_, return_) < quote_) {
      for (; p != quote_; ++p) {
        inner_lines_ += *p == '\r' || (*p == '\n' && !return_before_) ? 1 : 0;
        return_before_ = *p == '\r';
      }
    } else if (p != quote_) {
      return_before_ = false;
    }
    if (quote_ == end_) return nullptr;
    p = quote_ + 1;
    state_ = State::kQuoteInside;
  }
}

const char* RecordScanner::Walk(const char* p) {
  if (state_ == State::kReturn) {
    state_ = State::kFresh;
    return p + (*p == '\n' ? 1 : 0);
  }
  if (state_ == State::kFresh) state_ = State::kStart;
  for (;;) {
    if (state_ == State::kQuoted || state_ == State::kQuoteInside) {
      p = WalkQuoted(p);
      if (p == nullptr) return nullptr;
    }
    if (quote_ < p) FindQuote(p);
    if (feed_ < p) feed_ = Find('\n', p);
    if (return_ < p) return_ = Find('\r', p);
    const char* const line_end = std::min(feed_, return_);
    const char* const stop = std::min(line_end, quote_);
    if (stop == end_) {
      state_ = BeginsField(p, end_) ? State::kStart : State::kField;
      return nullptr;
    }
    if (quote_ < line_end) {
      const bool begins = BeginsField(p, quote_);
      state_ = begins ? State::kQuoted : State::kField;
      return_before_ = false;
      p = quote_ + 1;
      continue;
    }
    if (line_end == return_ && line_end + 1 == end_) {
      state_ = State::kReturn;
      return nullptr;
    }
    state_ = State::kFresh;
    return line_end + (*line_end == '\r' && line_end[1] == '\n' ? 2 : 1);
  }
}

std::string_view WithoutLineEnd(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

absl::Status ForEachRecord(
    absl::FunctionRef<absl::StatusOr<std::string_view>()> next, const std::string& name,
    char separator, int64_t raw_lines, int64_t max_record,
    absl::FunctionRef<absl::Status(std::string_view record, int64_t line, bool ended)> f) {
  RecordScanner scanner(separator);
  scanner.SetQuotes(raw_lines <= 0);
  std::string begun;  // the beginning of a record that the pieces before hold
  bool at_start = true;
  int64_t line = 1;
  for (;;) {
    FIRN_ASSIGN_OR_RETURN(std::string_view piece, next());
    if (piece.empty()) break;
    if (at_start && piece.starts_with(kByteOrderMark)) piece.remove_prefix(kByteOrderMark.size());
    at_start = false;
    const char* p = piece.data();
    const char* const end = p + piece.size();
    scanner.Feed(p, end);
    while (p != end) {
      const char* const stop = scanner.Next(p);
      std::string_view record(p, static_cast<size_t>((stop == nullptr ? end : stop) - p));
      if (stop == nullptr || !begun.empty()) {
        FIRN_RETURN_IF(static_cast<int64_t>(begun.size() + record.size()) > max_record,
                       ResourceExhausted(name, ": line ", line, ": a record of more than ",
                                         max_record, " bytes"));
        begun.append(record);
        record = begun;
      }
      if (stop == nullptr) break;
      FIRN_RETURN_IF_ERROR(f(WithoutLineEnd(record), line, true));
      begun.clear();
      line += 1 + scanner.inner_lines();
      if (line > raw_lines) [[likely]] {
        if (raw_lines > 0) scanner.SetQuotes(true);
        raw_lines = 0;
      }
      p = stop;
    }
  }
  if (begun.empty()) return absl::OkStatus();
  const std::string_view last = WithoutLineEnd(begun);
  return f(last, line, last.size() != begun.size());
}

}  // namespace firn::io::internal
