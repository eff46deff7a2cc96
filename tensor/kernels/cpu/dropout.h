#ifndef FIRN_TENSOR_KERNELS_CPU_DROPOUT_H_
#define FIRN_TENSOR_KERNELS_CPU_DROPOUT_H_

#include <algorithm>
#include <bit>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/random.h"

namespace firn::cpu {
namespace internal {

static_assert(std::endian::native == std::endian::little);  // byte b of a word is elements 8 b on

// The bits of `count` <= kWordRow elements: those whose word is large enough.
inline uint64_t KeptOf(const uint32_t* words, int64_t count, uint32_t first_kept) {
  uint8_t keep[kWordRow] = {};
  for (int64_t i = 0; i < count; ++i) keep[i] = words[i] >= first_kept ? 1 : 0;
  uint64_t bits = 0;
  for (int b = 0; b < 8; ++b) {
    uint64_t eight;
    std::memcpy(&eight, keep + 8 * b, 8);
    bits |= ((eight * 0x0102040810204080) >> 56) << (8 * b);  // bit 8 i goes to bit 56 + i
  }
  return bits;
}

// y[i] = x[i] * scale where bit i of `kept` is set, else 0; y may be x.
template <class Acc>
FIRN_ALWAYS_INLINE void ScaleKept(const Acc* x, const uint8_t* kept, Acc scale, int64_t n, Acc* y) {
  constexpr int kBits = 32;
  int64_t at = 0;
  for (; at + kBits <= n; at += kBits) {
    uint32_t bits;
    std::memcpy(&bits, kept + at / 8, sizeof(bits));
    FIRN_INDEPENDENT_STEPS
    for (int i = 0; i < kBits; ++i) {
      const Acc v = x[at + i] * scale;
      y[at + i] = (bits & (uint32_t{1} << i)) != 0 ? v : Acc{0};
    }
  }
  for (; at < n; ++at) {
    const Acc v = x[at] * scale;
    y[at] = (kept[at / 8] >> (at % 8) & 1) != 0 ? v : Acc{0};
  }
}

}  // namespace internal

// Output 0 = input 0 (floating, contiguous) with each element dropped with probability p, by the
// random words from `at` on, and the others scaled by 1 / (1 - p). Output 1 has the choice: bit e %
// 8 of byte e / 8 is set where element e is kept.
inline void DropElements(KernelContext& k, const PhiloxState& at, double p) {
  const int64_t n = k.in_spec(0).num_elements();
  // At most 2^32 - 1, so that it fits; p = 1 is handled separately.
  const auto first_kept = static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
  uint8_t* const kept = k.out<uint8_t>(1);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = ComputeOf<T>;
    const T* x = k.in<T>(0);
    T* y = k.out<T>();
    if (p == 1) {  // also where x is infinite
      std::fill(y, y + n, T(0));
      std::fill(kept, kept + CeilDiv(n, 8), uint8_t{0});
      return;
    }
    const Acc scale = static_cast<Acc>(1 / (1 - p));
    // Copies: if a store of a result might change these numbers, the loop would not be vectorised.
    ForEachWordRow(at, n, [=](int64_t first, const uint32_t* words, int64_t count) {
      Piece<T, kWordRow> in, out;
      const Acc* const from = in.Read(x + first, count);
      Acc* const to = out.Room(y + first);
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < count; ++i) {
        const Acc v = from[i] * scale;
        to[i] = words[i] >= first_kept ? v : Acc{0};
      }
      out.Write(y + first, count);
      const uint64_t bits = internal::KeptOf(words, count, first_kept);
      std::memcpy(kept + first / 8, &bits, static_cast<size_t>(CeilDiv(count, 8)));
    });
  });
}

// Output 0 = input 0 (floating, contiguous) with the elements dropped that input 1 says, as
// DropElements wrote it, and the others scaled by 1 / (1 - p).
inline void DropAgain(KernelContext& k, double p) {
  constexpr int64_t kRow = 512, kGrain = 32;
  const int64_t n = k.in_spec(0).num_elements();
  const uint8_t* const kept = k.in<uint8_t>(1);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = ComputeOf<T>;
    const T* x = k.in<T>(0);
    T* y = k.out<T>();
    if (p == 1) {
      std::fill(y, y + n, T(0));
      return;
    }
    const Acc scale = static_cast<Acc>(1 / (1 - p));
    ParallelFor(CeilDiv(n, kRow), kGrain, [=](int64_t begin, int64_t end) {
      Piece<T, kRow> in, out;
      for (int64_t at = begin * kRow; at < std::min(n, end * kRow); at += kRow) {
        const int64_t count = std::min(kRow, n - at);
        const Acc* const from = in.Read(x + at, count);
        internal::ScaleKept(from, kept + at / 8, scale, count, out.Room(y + at));
        out.Write(y + at, count);
      }
    });
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_DROPOUT_H_
