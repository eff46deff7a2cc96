#ifndef FIRN_TENSOR_INTERNAL_TEXT_MASKS_H_
#define FIRN_TENSOR_INTERNAL_TEXT_MASKS_H_

#include <cstdint>

namespace firn::inner::internal {

// The places of the bytes that separate records and fields of a CSV text: bit i of word k stands
// for byte 64 k + i. Found by kernel_functions.find_text_masks (kernel_functions.h).
struct TextMasks {
  static constexpr int kWords = 64, kBytes = 64 * kWords;
  struct Word {
    uint64_t quotes, feeds, returns;
    // Quotes, line ends and separators, of which a word without quotes has only that of its last
    // byte.
    uint64_t before;
    uint64_t inside;  // behind an odd number of the word's quotes; a quote is behind itself
  };
  uint64_t some = 0;    // the words with a quote or a line's end: others are not set
  uint64_t quoted = 0;  // those of them with a quote
  Word words[kWords];   // NOLINT
};

// Bit i of the result is the parity of bits 0 to i.
inline uint64_t PrefixXor(uint64_t bits) {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  return bits ^ bits << 32;
}

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_TEXT_MASKS_H_
