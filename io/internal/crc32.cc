// Folding by carry-less products: V. Gopal et al., "Fast CRC Computation for Generic Polynomials
// Using PCLMULQDQ Instruction", Intel, 2009, with the constants for the bit-reflected polynomial of
// zlib, gzip and Ethernet. Four registers of 128 bits each run over every fourth 16 bytes; then
// they are folded into one, that to 64 bits, and Barrett's reduction leaves 32.
#include "firn/io/internal/crc32.h"

#include <zlib.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace firn::io::internal {
namespace {

uint32_t ByZlib(uint32_t crc, const unsigned char* data, size_t bytes) {
  return static_cast<uint32_t>(crc32_z(crc, data, bytes));
}

#ifdef __x86_64__

#define FIRN_CLMUL __attribute__((target("pclmul,sse4.1")))

FIRN_CLMUL __m128i Load(const unsigned char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// x moved on by the distance that k stands for, plus the bytes that are there.
FIRN_CLMUL __m128i Fold(__m128i x, __m128i k, __m128i there) {
  const __m128i low = _mm_clmulepi64_si128(x, k, 0x00), high = _mm_clmulepi64_si128(x, k, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

FIRN_CLMUL uint32_t Reduce(__m128i x, __m128i by_16_bytes) {
  const __m128i low_words = _mm_setr_epi32(~0, 0, ~0, 0);
  const __m128i to_64 = _mm_cvtsi64_si128(0x163cd6124);
  const __m128i barrett = _mm_set_epi64x(0x1f7011641, 0x1db710641);
  __m128i y = _mm_clmulepi64_si128(x, by_16_bytes, 0x10);
  x = _mm_xor_si128(_mm_srli_si128(x, 8), y);
  y = _mm_srli_si128(x, 4);
  x = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(x, low_words), to_64, 0x00), y);
  y = _mm_clmulepi64_si128(_mm_and_si128(x, low_words), barrett, 0x10);
  y = _mm_clmulepi64_si128(_mm_and_si128(y, low_words), barrett, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(x, y), 1));
}

// Requires: bytes is a multiple of 16, and 64 or more.
FIRN_CLMUL uint32_t ByProducts(uint32_t crc, const unsigned char* data, size_t bytes) {
  const __m128i by_64_bytes = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_16_bytes = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i x[4];
  for (int i = 0; i < 4; ++i) x[i] = Load(data + 16 * i);
  x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128(static_cast<int>(~crc)));
  for (data += 64, bytes -= 64; bytes >= 64; data += 64, bytes -= 64) {
    for (int i = 0; i < 4; ++i) x[i] = Fold(x[i], by_64_bytes, Load(data + 16 * i));
  }
  __m128i all = x[0];
  for (int i = 1; i < 4; ++i) all = Fold(all, by_16_bytes, x[i]);
  for (; bytes >= 16; data += 16, bytes -= 16) all = Fold(all, by_16_bytes, Load(data));
  return ~Reduce(all, by_16_bytes);
}

bool HasProducts() {
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return has;
}

#endif

}  // namespace

uint32_t Crc32(uint32_t crc, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
#ifdef __x86_64__
  if (bytes >= 64 && HasProducts()) {
    const size_t whole = bytes / 16 * 16;
    crc = ByProducts(crc, at, whole);
    at += whole;
    bytes -= whole;
  }
#endif
  return ByZlib(crc, at, bytes);
}

uint32_t Crc32Combine(uint32_t first, uint32_t second, size_t second_bytes) {
  return static_cast<uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}

}  // namespace firn::io::internal
