// Words of 64 bytes, of which four at once are passed over where none of their bytes can matter, as
// most of long lines are; a word is then compared with each of the bytes that do.
#include "firn/tensor/internal/text_masks.h"

#include <algorithm>
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
constexpr int kAtOnce = 4;  // words

FIRN_ALWAYS_INLINE Part All(char c) { return Part{} + static_cast<uint8_t>(c); }

FIRN_ALWAYS_INLINE Part Load(const char* text) {
  Part x;
  std::memcpy(&x, text, sizeof(x));
  return x;
}

struct Bytes {
  Part part[kParts];  // NOLINT
};

// A bit for each byte that is c.
FIRN_ALWAYS_INLINE uint64_t Equal(const Bytes& x, char c) {
  uint64_t mask = 0;
  for (size_t i = 0; i < kParts; ++i) {
    mask |= EqualBytes(x.part[i], All(c)) << (kSimdBytes * i);
  }
  return mask;
}

FIRN_ALWAYS_INLINE Part Least(Part a, Part b) { return a < b ? a : b; }

// Whether there is a byte that may matter: none of them is greater than a quote.
FIRN_ALWAYS_INLINE bool MayMatter(const char* text) {
  Part least = Load(text);
  for (size_t i = 1; i < kAtOnce * kParts; ++i) least = Least(least, Load(text + kSimdBytes * i));
  return EqualBytes(least, Least(least, All('"'))) != 0;
}

FIRN_ALWAYS_INLINE bool FindInWord(const char* text, char separator, TextMasks::Word* w) {
  Bytes x;
  for (size_t i = 0; i < kParts; ++i) x.part[i] = Load(text + kSimdBytes * i);
  const uint64_t quotes = Equal(x, '"'), feeds = Equal(x, '\n'), returns = Equal(x, '\r');
  const uint64_t matches = quotes | feeds | returns;
  if (matches == 0) return false;
  *w = {quotes, feeds, returns, matches | Equal(x, separator), PrefixXor(quotes)};
  return true;
}

void FindTextMasks(const char* text, int64_t n, char separator, TextMasks* masks) {
  const int64_t whole = n / 64;
  uint64_t some = 0;
  for (int64_t first = 0; first < whole; first += kAtOnce) {
    if (first + kAtOnce <= whole && !MayMatter(text + 64 * first)) continue;
    for (int64_t k = first; k < std::min(first + kAtOnce, whole); ++k) {
      some |= uint64_t{FindInWord(text + 64 * k, separator, masks->words + k)} << k;
    }
  }
  if (n % 64 != 0) {
    char last[64] = {};
    std::memcpy(last, text + 64 * whole, static_cast<size_t>(n % 64));
    some |= uint64_t{FindInWord(last, separator, masks->words + whole)} << whole;
  }
  masks->some = some;
}

FIRN_OF_THIS_LEVEL(find_text_masks, FindTextMasks);

}  // namespace
}  // namespace firn::inner::internal
