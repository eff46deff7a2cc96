#ifndef FIRN_IO_INTERNAL_CSV_MASKS_H_
#define FIRN_IO_INTERNAL_CSV_MASKS_H_

#include <cstdint>

namespace firn::io::internal {

// Where the bytes stand that the records of a CSV text depend on: bit i of word k is about byte
// 64 k + i.
struct CsvMasks {
  static constexpr int kWords = 64, kBytes = 64 * kWords;
  struct Word {
    uint64_t quotes, feeds, returns;
    uint64_t before;  // quotes, line ends and separators
    uint64_t inside;  // behind an odd number of the word's quotes; a quote is behind itself
  };
  uint64_t some = 0;   // the words with a quote or a line's end: others are not set
  Word words[kWords];  // NOLINT
};

// Bit i of the result is the parity of bits 0 to i.
inline uint64_t PrefixXor(uint64_t bits) {
  for (int k = 1; k < 64; k *= 2) bits ^= bits << k;
  return bits;
}

// Those of n bytes of text. Requires: 0 <= n <= kBytes.
void FindCsvMasks(const char* text, int64_t n, char separator, CsvMasks* masks);
// By the instructions of a level (device/level.h). Requires: the processor's is not less.
void FindCsvMasks(int level, const char* text, int64_t n, char separator, CsvMasks* masks);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_CSV_MASKS_H_
