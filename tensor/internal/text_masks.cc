// First a cheap test finds the words of 64 bytes that may matter; these are then compared with each
// of the bytes that do; at last words with quotes are searched for separators. No branch depends on
// a word, since a processor would predict few of them where every second word has the end of a
// line.
#include "firn/tensor/internal/text_masks.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "firn/device/byte_mask.h"
#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/tensor/internal/kernel_functions.h"

namespace firn::inner::internal {
namespace {

using Part = Vec<uint8_t>;
constexpr size_t kParts = 64 / kSimdBytes;

FIRN_ALWAYS_INLINE Part All(char c) { return Part{} + static_cast<uint8_t>(c); }

struct Bytes {
  Part part[kParts];  // NOLINT
};

FIRN_ALWAYS_INLINE Bytes Load(const char* text) {
  Bytes x;
  for (size_t i = 0; i < kParts; ++i) {
    Part part;  // by itself, or it would go through memory
    std::memcpy(&part, text + kSimdBytes * i, sizeof(part));
    x.part[i] = part;
  }
  return x;
}

// A bit for each byte that is c.
FIRN_ALWAYS_INLINE uint64_t Equal(const Bytes& x, char c) {
  uint64_t mask = 0;
  for (size_t i = 0; i < kParts; ++i) {
    mask |= EqualBytes(x.part[i], All(c)) << (kSimdBytes * i);
  }
  return mask;
}

FIRN_ALWAYS_INLINE Part Least(Part a, Part b) { return a < b ? a : b; }

// Whether there is a byte that may matter: a quote or one of the 32 before the blank. Flipping one
// bit moves the quote to the blank's place and the blank out of the way, and keeps the 32 among
// themselves.
FIRN_ALWAYS_INLINE bool MayMatter(const Bytes& x) {
  Part least = x.part[0] ^ All('"' ^ ' ');
  for (size_t i = 1; i < kParts; ++i) least = Least(least, x.part[i] ^ All('"' ^ ' '));
  return EqualBytes(least, Least(least, All(' '))) != 0;
}

// Copied member by member: as a whole it would go through memory once more.
FIRN_ALWAYS_INLINE void FindInWord(const char* text, char separator, TextMasks::Word* w) {
  const Bytes x = Load(text);
  const uint64_t quotes = Equal(x, '"'), feeds = Equal(x, '\n'), returns = Equal(x, '\r');
  w->quotes = quotes;
  w->feeds = feeds;
  w->returns = returns;
  w->before = quotes | feeds | returns | uint64_t{text[63] == separator} << 63;
  w->inside = 0;
}

void FindTextMasks(const char* text, int64_t n, char separator, TextMasks* masks) {
  const int64_t whole = n / 64;
  char last[64] = {};
  uint64_t left = 0;
  if (n % 64 != 0) {
    std::memcpy(last, text + 64 * whole, static_cast<size_t>(n % 64));
    left = uint64_t{MayMatter(Load(last))};
  }
  for (int64_t k = whole - 1; k >= 0; --k) {
    left = left << 1 | uint64_t{MayMatter(Load(text + 64 * k))};
  }
  const auto word = [&](int k) { return k < whole ? text + 64 * k : last; };
  uint64_t some = 0, quoted = 0;
  for (; left != 0; left &= left - 1) {
    const int k = std::countr_zero(left);
    TextMasks::Word& w = masks->words[k];
    FindInWord(word(k), separator, &w);
    some |= uint64_t{(w.quotes | w.feeds | w.returns) != 0} << k;
    quoted |= uint64_t{w.quotes != 0} << k;
  }
  for (uint64_t rest = quoted; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    TextMasks::Word& w = masks->words[k];
    w.before |= Equal(Load(word(k)), separator);
    w.inside = PrefixXor(w.quotes);
  }
  masks->quoted = quoted;
  masks->some = some;
}

FIRN_OF_THIS_LEVEL(find_text_masks, FindTextMasks);

}  // namespace
}  // namespace firn::inner::internal
