// What is done with a block is the same for all processors (csv_masks_body.h); here is what they
// have instructions for. x86-64-v2 and higher find any of \n, \r and " by one look-up: the low half
// of a byte is the place in a table of the only one of them that has it (G. Langdale, D. Lemire,
// "Parsing gigabytes of JSON per second", 2019). Others compare with each.
#include "firn/io/internal/csv_masks.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "firn/device/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace firn::io::internal {
namespace {

namespace any_processor {

using Part = uint8_t __attribute__((vector_size(16)));
struct Bytes {
  Part part[4];  // NOLINT
};

inline Bytes Load(const char* text) {
  Bytes x;
  std::memcpy(&x, text, sizeof(x));
  return x;
}

inline Bytes Unlike(const Bytes& x) {
  Bytes y;
  for (int i = 0; i < 4; ++i) {
    const Part p = x.part[i];
    y.part[i] = reinterpret_cast<Part>((p != '\n') & (p != '\r') & (p != '"'));
  }
  return y;
}

inline Bytes Least(const Bytes& a, const Bytes& b) {
  Bytes y;
  for (int i = 0; i < 4; ++i) y.part[i] = a.part[i] & b.part[i];
  return y;
}

// A bit for each byte that is c.
inline uint64_t Equal(const Bytes& x, char c) {
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const auto same = x.part[i] == static_cast<uint8_t>(c);
    uint64_t halves[2];
    std::memcpy(halves, &same, sizeof(same));
    for (int half = 0; half < 2; ++half) {
      // Of byte j only bit j is left; the product adds all of them up in its last byte.
      const uint64_t bits = ((halves[half] & 0x8040201008040201) * 0x0101010101010101) >> 56;
      mask |= bits << (16 * i + 8 * half);
    }
  }
  return mask;
}

inline uint64_t Zeros(const Bytes& x) { return Equal(x, 0); }

inline bool HasZero(const Bytes& x) {
  const Part all = x.part[0] & x.part[1] & x.part[2] & x.part[3];
  uint64_t halves[2];
  std::memcpy(halves, &all, sizeof(all));
  return (halves[0] & halves[1]) != ~uint64_t{0};
}

inline uint64_t Prefix(uint64_t bits) { return PrefixXor(bits); }

}  // namespace any_processor

#ifdef __x86_64__

// What has the low half 2, 10 or 13, and something that has another low half for all others.
#define FIRN_TABLE 1, 0, '"', 0, 0, 0, 0, 0, 0, 0, '\n', 0, 0, '\r', 0, 0
alignas(64) constexpr char kTable[64] = {FIRN_TABLE, FIRN_TABLE, FIRN_TABLE, FIRN_TABLE};
#undef FIRN_TABLE

namespace v2 {

#define FIRN_V2 __attribute__((target("ssse3,pclmul")))

struct Bytes {
  __m128i a, b, c, d;
};

FIRN_V2 inline Bytes Load(const char* text) {
  const auto* const at = reinterpret_cast<const __m128i*>(text);
  return {_mm_loadu_si128(at), _mm_loadu_si128(at + 1), _mm_loadu_si128(at + 2),
          _mm_loadu_si128(at + 3)};
}

FIRN_V2 inline __m128i Unlike(__m128i x) {
  const __m128i table = _mm_load_si128(reinterpret_cast<const __m128i*>(kTable));
  return _mm_xor_si128(x, _mm_shuffle_epi8(table, x));
}
FIRN_V2 inline Bytes Unlike(Bytes x) {
  return {Unlike(x.a), Unlike(x.b), Unlike(x.c), Unlike(x.d)};
}

FIRN_V2 inline Bytes Least(Bytes x, Bytes y) {
  return {_mm_min_epu8(x.a, y.a), _mm_min_epu8(x.b, y.b), _mm_min_epu8(x.c, y.c),
          _mm_min_epu8(x.d, y.d)};
}

FIRN_V2 inline uint64_t Equal(__m128i x, char c) {
  const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(c)));
  return static_cast<uint32_t>(mask);
}
FIRN_V2 inline uint64_t Equal(Bytes x, char c) {
  return Equal(x.a, c) | Equal(x.b, c) << 16 | Equal(x.c, c) << 32 | Equal(x.d, c) << 48;
}

FIRN_V2 inline uint64_t Zeros(Bytes x) { return Equal(x, 0); }

FIRN_V2 inline bool HasZero(Bytes x) {
  return Equal(_mm_min_epu8(_mm_min_epu8(x.a, x.b), _mm_min_epu8(x.c, x.d)), 0) != 0;
}

// The product with ones, without carries.
FIRN_V2 inline uint64_t Prefix(uint64_t bits) {
  const __m128i x = _mm_cvtsi64_si128(static_cast<int64_t>(bits));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_clmulepi64_si128(x, _mm_set1_epi8(-1), 0)));
}

}  // namespace v2

namespace v3 {

#define FIRN_V3 __attribute__((target("avx2,pclmul")))

using v2::Prefix;

struct Bytes {
  __m256i low, high;
};

FIRN_V3 inline Bytes Load(const char* text) {
  const auto* const at = reinterpret_cast<const __m256i*>(text);
  return {_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
}

FIRN_V3 inline Bytes Unlike(Bytes x) {
  const __m256i table = _mm256_load_si256(reinterpret_cast<const __m256i*>(kTable));
  return {_mm256_xor_si256(x.low, _mm256_shuffle_epi8(table, x.low)),
          _mm256_xor_si256(x.high, _mm256_shuffle_epi8(table, x.high))};
}

FIRN_V3 inline Bytes Least(Bytes x, Bytes y) {
  return {_mm256_min_epu8(x.low, y.low), _mm256_min_epu8(x.high, y.high)};
}

FIRN_V3 inline uint64_t Equal(__m256i x, char c) {
  const int mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(c)));
  return static_cast<uint32_t>(mask);
}
FIRN_V3 inline uint64_t Equal(Bytes x, char c) { return Equal(x.low, c) | Equal(x.high, c) << 32; }

FIRN_V3 inline uint64_t Zeros(Bytes x) { return Equal(x, 0); }

FIRN_V3 inline bool HasZero(Bytes x) { return Equal(_mm256_min_epu8(x.low, x.high), 0) != 0; }

}  // namespace v3

namespace v4 {

#define FIRN_V4 __attribute__((target("avx512f,avx512bw,pclmul")))

using v2::Prefix;

using Bytes = __m512i;

FIRN_V4 inline Bytes Load(const char* text) { return _mm512_loadu_si512(text); }

FIRN_V4 inline Bytes Unlike(Bytes x) {
  return _mm512_xor_si512(x, _mm512_shuffle_epi8(_mm512_load_si512(kTable), x));
}

FIRN_V4 inline Bytes Least(Bytes x, Bytes y) { return _mm512_min_epu8(x, y); }

FIRN_V4 inline uint64_t Equal(Bytes x, char c) {
  return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(c));
}

FIRN_V4 inline uint64_t Zeros(Bytes x) { return _mm512_testn_epi8_mask(x, x); }

FIRN_V4 inline bool HasZero(Bytes x) { return Zeros(x) != 0; }

}  // namespace v4

#endif

}  // namespace
}  // namespace firn::io::internal

// What each of them does with a block.
#define FIRN_NAMESPACE any_processor
#define FIRN_TARGET
#include "firn/io/internal/csv_masks_body.h"  // NOLINT
#undef FIRN_NAMESPACE
#undef FIRN_TARGET
#ifdef __x86_64__
#define FIRN_NAMESPACE v2
#define FIRN_TARGET FIRN_V2
#include "firn/io/internal/csv_masks_body.h"  // NOLINT
#undef FIRN_NAMESPACE
#undef FIRN_TARGET
#define FIRN_NAMESPACE v3
#define FIRN_TARGET FIRN_V3
#include "firn/io/internal/csv_masks_body.h"  // NOLINT
#undef FIRN_NAMESPACE
#undef FIRN_TARGET
#define FIRN_NAMESPACE v4
#define FIRN_TARGET FIRN_V4
#include "firn/io/internal/csv_masks_body.h"  // NOLINT
#undef FIRN_NAMESPACE
#undef FIRN_TARGET
#endif

namespace firn::io::internal {
namespace {

using Finder = uint64_t (*)(const char* text, int n, char separator, CsvMasks::Word* words);

Finder FinderOf(int level) {
#ifdef __x86_64__
  static const bool has_products = __builtin_cpu_supports("pclmul");
  if (level >= 2 && has_products) return level >= 4 ? v4::Find : level == 3 ? v3::Find : v2::Find;
#endif
  static_cast<void>(level);
  return any_processor::Find;
}

}  // namespace

void FindCsvMasks(int level, const char* text, int64_t n, char separator, CsvMasks* masks) {
  const Finder find = FinderOf(level);
  const int whole = static_cast<int>(n / 64);
  masks->some = find(text, whole, separator, masks->words);
  const auto rest = static_cast<size_t>(n % 64);
  if (rest == 0) return;
  char last[64] = {};
  std::memcpy(last, text + 64 * whole, rest);
  masks->some |= find(last, 1, separator, masks->words + whole) << whole;
}

void FindCsvMasks(const char* text, int64_t n, char separator, CsvMasks* masks) {
  FindCsvMasks(inner::KernelLevel(), text, n, separator, masks);
}

}  // namespace firn::io::internal
