// 64 bytes at a time: a bit for each quote and each end of a line (tensor/internal/text_masks.h). A
// quote opens or closes quotes; which of the bytes stand in quotes is then the parity of the quotes
// before them. The exception is an opening quote within a field, where it is text. A quote is such
// text unless a separator, a line end, or a quote that closed quotes (two make one) stands before
// it; all others are examined one by one. The time stays linear for every text, since only the
// blanks before a quote are looked at again.
#include "firn/io/csv/internal/csv_records.h"

#include <algorithm>
#include <bit>
#include <string>

#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/tensor/internal/kernel_functions.h"

namespace firn::io::internal {
namespace {

// For zero the result is arbitrary: std::countr_zero would branch for zero on older processors.
int FirstBit(uint64_t bits) { return std::countr_zero(bits | uint64_t{1} << 63); }

}  // namespace

void RecordScanner::Feed(const char* begin, const char* end) {
  before_ = left_;
  left_ = {};
  begin_ = block_ = begin;
  end_ = end;
  next_word_ = begin;
  closing_ = uint64_t{before_.closed} << 63;
  begins_ = before_.begins || before_.closed;
  if (LoneReturnBefore() && in_quotes_ != 0) ++begun_lines_;
  FindEnds();
}

void RecordScanner::SetQuotes(bool quotes, const char* p) {
  quotes_ = quotes;
  if (p == nullptr || p == end_) return;
  in_quotes_ = 0;
  left_ = {};
  Feed(p, end_);
}

// The end of the piece has come before that of the record.
void RecordScanner::EndPiece() {
  begun_lines_ = inner_lines_;
  left_.returns = end_[-1] == '\r';
  left_.closed = end_[-1] == '"' && (closing_ >> ((end_ - block_ - 1) % 64) & 1) != 0;
  left_.begins = in_quotes_ == 0 && BeginsField(end_);
}

// Whether a quote at `at`, outside of quotes, would begin a field: there are only blanks before it,
// up to a separator or the beginning of the record.
bool RecordScanner::BeginsField(const char* at) const {
  while (at != begin_ && at[-1] != separator_ && (at[-1] == ' ' || at[-1] == '\t')) --at;
  if (at == begin_) return before_.begins;
  return EndsField(at[-1]);
}

// The quotes of a word that open or close a quoted text; `closed`: the byte before the word closed
// one.
uint64_t RecordScanner::ResolveQuotes(const char* word, uint64_t quotes, bool closed) const {
  uint64_t kept = 0;
  bool open = in_quotes_ != 0;
  const char* last = closed ? word - 1 : nullptr;
  for (; quotes != 0; quotes &= quotes - 1) {
    const char* const at = word + std::countr_zero(quotes);
    if (!open && last != at - 1 && !BeginsField(at)) continue;
    open = !open;
    last = at;
    kept |= quotes & (~quotes + 1);
  }
  return kept;
}

// `returns` are the \r without a \n behind them in this word; drops the last one if the next word
// begins with \n, or if the piece ends here and the next byte is not known yet.
uint64_t RecordScanner::LoneReturns(const char* word, uint64_t returns) const {
  const char* const behind = word + 64;
  if (behind >= end_) return returns & ~(uint64_t{1} << (end_ - word - 1));
  return *behind == '\n' ? returns & ~(uint64_t{1} << 63) : returns;
}

// Which bytes of the word stand in quotes or open some.
inline uint64_t RecordScanner::InsideQuotes(const char* word, const Masks::Word& w) {
  const bool follows = word == next_word_;
  const bool closed = follows && closing_ >> 63 != 0;
  const bool begins = follows ? begins_ : word[-1] == separator_;
  uint64_t quotes = w.quotes, inside = w.inside ^ in_quotes_;
  if ((quotes & inside & ~(w.before << 1 | uint64_t{begins})) != 0) [[unlikely]] {
    quotes = ResolveQuotes(word, quotes, closed);
    inside = inner::internal::PrefixXor(quotes) ^ in_quotes_;
  }
  in_quotes_ = uint64_t{0} - (inside >> 63);
  next_word_ = word + 64;
  closing_ = quotes & ~inside;
  begins_ = (w.before & ~(w.quotes & ~quotes)) >> 63 != 0;
  return inside;
}

// Where the records of the block end.
void RecordScanner::FindEnds() {
  inner::internal::kernel_functions.find_text_masks(
      block_, std::min<int64_t>(end_ - block_, Masks::kBytes), separator_, &masks_);
  uint16_t* last = ends_;
  // A record that a \r at the end of the last piece ended has no byte in this one.
  if (block_ == begin_ && LoneReturnBefore() && in_quotes_ == 0) *last++ = 0;
  lines_in_quotes_ = 0;
  const bool quoted = quotes_ && masks_.quoted != 0;
  for (uint64_t left = masks_.some; left != 0; left &= left - 1) {
    const int k = std::countr_zero(left);
    Masks::Word& w = masks_.words[k];
    const char* const word = block_ + 64 * k;
    uint64_t ends = w.feeds;
    if (const uint64_t lone = w.returns & ~(w.feeds >> 1); lone != 0) {
      ends |= LoneReturns(word, lone);
    }
    const uint64_t inside = quoted ? InsideQuotes(word, w) : in_quotes_;
    if ((ends & inside) != 0) [[unlikely]] {
      w.returns = ends & inside;
      lines_in_quotes_ |= uint64_t{1} << k;
      ends &= ~inside;
    }
    const int n = std::popcount(ends);
    const int at = 64 * k + 1;
    for (int i = 0; i < kAtOnce; ++i, ends &= ends - 1) {
      last[i] = static_cast<uint16_t>(at + FirstBit(ends));
    }
    for (int i = kAtOnce; i < n; ++i, ends &= ends - 1) {
      last[i] = static_cast<uint16_t>(at + FirstBit(ends));
    }
    last += n;
  }
  next_ = ends_;
  last_ = last;
}

bool RecordScanner::NextBlock() {
  if (end_ - block_ <= Masks::kBytes) return false;
  block_ += Masks::kBytes;
  FindEnds();
  return true;
}

const char* RecordScanner::Search() {
  inner_lines_ = begun_lines_;
  begun_lines_ = 0;
  for (;;) {
    const bool found = next_ != last_;
    const int end = found ? *next_ : Masks::kBytes;
    if (lines_in_quotes_ != 0) CountLines(end);
    if (found) return ++next_, block_ + end;
    if (NextBlock()) continue;
    EndPiece();
    return nullptr;
  }
}

// Adds the lines that end in quotes before `end`, from the beginning of the block.
void RecordScanner::CountLines(int end) {
  for (; lines_in_quotes_ != 0; lines_in_quotes_ &= lines_in_quotes_ - 1) {
    const int k = std::countr_zero(lines_in_quotes_);
    uint64_t& lines = masks_.words[k].returns;
    const int bits = end - 64 * k;
    if (bits < 64) {
      const uint64_t before = bits <= 0 ? 0 : (uint64_t{1} << bits) - 1;
      inner_lines_ += std::popcount(lines & before);
      lines &= ~before;
      return;
    }
    inner_lines_ += std::popcount(lines);
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
    if (at_start) FIRN_RETURN_IF_ERROR(CheckEncoding(piece, name));
    if (at_start && piece.starts_with(kByteOrderMark)) piece.remove_prefix(kByteOrderMark.size());
    at_start = false;
    const char* p = piece.data();
    const char* const end = p + piece.size();
    scanner.Feed(p, end);
    while (p != end) {
      const char* const stop = scanner.Next();
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
        if (raw_lines > 0) scanner.SetQuotes(true, stop);
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
