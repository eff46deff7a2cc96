#ifndef FIRN_DEVICE_SIMD_H_
#define FIRN_DEVICE_SIMD_H_

#include <cstddef>
#include <cstdint>

#include "firn/device/level.h"
#include "firn/device/own_flags.h"

// Facts that follow from the compiler's -m flags, in one place, so that no other folder needs an
// #ifdef. Layouts follow from them, so all of one program must have the same values. That is why
// only files with Firn's flags may include this header, and no header that a program's own files
// include.

namespace firn {

#if FIRN_LEVEL >= 4
inline constexpr size_t kSimdBytes = 64;  // of one vector register
#elif FIRN_LEVEL >= 3
inline constexpr size_t kSimdBytes = 32;
#else
inline constexpr size_t kSimdBytes = 16;  // SSE and NEON
#endif

// Channels of one block of the blocked f32 layouts (nChw16c, nChw8c): one register's worth, but 8
// where registers are narrower than that.
inline constexpr int64_t kChannelBlock = kSimdBytes == 64 ? 16 : 8;

namespace inner::internal {
template <class T>
struct VecOf {
  typedef T type __attribute__((vector_size(kSimdBytes)));
};
}  // namespace inner::internal

// One register of T: +, *, <, ?: work by lane, v[i] reads a lane. Aligned to kSimdBytes; for memory
// with less alignment, use std::memcpy, which compiles to one unaligned move.
template <class T>
using Vec = typename inner::internal::VecOf<T>::type;

// Lanes of a Vec<T>.
template <class T>
inline constexpr int64_t kSimdLanes = static_cast<int64_t>(kSimdBytes / sizeof(T));

}  // namespace firn

#endif  // FIRN_DEVICE_SIMD_H_
