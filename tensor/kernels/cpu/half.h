#ifndef FIRN_TENSOR_KERNELS_CPU_HALF_H_
#define FIRN_TENSOR_KERNELS_CPU_HALF_H_

// Rows of half types to float and back, at the speed of vectors.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "firn/device/half_rows.h"
#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/functor.h"

namespace firn::cpu {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// to[i] = from[i] for i < n. The two do not overlap.
void ToFloats(const Half* from, int64_t n, float* to);
void ToFloats(const BFloat16* from, int64_t n, float* to);

// to[i] = from[i], rounded to nearest even.
void FromFloats(const float* from, int64_t n, Half* to);
void FromFloats(const float* from, int64_t n, BFloat16* to);

// The same inlined: where n is a small constant, the compiler keeps the elements in registers.
FIRN_ALWAYS_INLINE void FloatsOfBlock(const Half* from, int64_t n, float* to) {
  inner::internal::FloatsOfHalfBits(reinterpret_cast<const uint16_t*>(from), n, to);
}
FIRN_ALWAYS_INLINE void FloatsOfBlock(const BFloat16* from, int64_t n, float* to) {
  int64_t i =
      inner::internal::FloatsOfBfloatVectors(reinterpret_cast<const uint16_t*>(from), n, to);
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
FIRN_ALWAYS_INLINE void BlockOfFloats(const float* from, int64_t n, Half* to) {
  inner::internal::HalfBitsOfFloats(from, n, reinterpret_cast<uint16_t*>(to));
}
FIRN_ALWAYS_INLINE void BlockOfFloats(const float* from, int64_t n, BFloat16* to) {
  int64_t i = inner::internal::BfloatVectorsOfFloats(from, n, reinterpret_cast<uint16_t*>(to));
  for (; i < n; ++i) to[i] = BFloat16(from[i]);
}

// The same for elements of the half type that `dtype` says.
inline bool IsHalf(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
void ToFloats(DType dtype, const void* from, int64_t n, float* to);
void FromFloats(const float* from, int64_t n, DType dtype, void* to);

// Runs of `length` elements, which begin `stride` apart in the tensor and `step` apart in the
// buffer.
struct Runs {
  int64_t runs, length, stride, step;
};
void ToFloats(DType dtype, const void* from, const Runs& r, float* to);
void FromFloats(const float* from, const Runs& r, DType dtype, void* to);

// to[i] = from[i] for elements of T and of its compute type: T itself or, for a half type, float.
template <class T, class Acc>
FIRN_ALWAYS_INLINE void LoadAs(const T* from, int64_t n, Acc* to) {
  if constexpr (std::is_same_v<T, Acc>) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  } else {
    ToFloats(from, n, to);
  }
}
template <class T, class Acc>
FIRN_ALWAYS_INLINE void StoreFrom(const Acc* from, int64_t n, T* to) {
  if constexpr (std::is_same_v<T, Acc>) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  } else {
    FromFloats(from, n, to);
  }
}
// n elements to read as Acc: in place or, for a half type, in `strip`.
template <class T, class Acc>
FIRN_ALWAYS_INLINE const Acc* ViewAs(const T* from, int64_t n, Acc* strip) {
  if constexpr (std::is_same_v<T, Acc>) {
    return from;
  } else {
    ToFloats(from, n, strip);
    return strip;
  }
}

// A piece of a row, of at most kMost elements, in its compute type: elements of half types go
// through a buffer of floats, others are used in place.
//   Piece<T, 512> in, out;
//   const auto* from = in.Read(x, n);
//   auto* to = out.Room(y);
//   for (i < n) to[i] = f(from[i]);
//   out.Write(y, n);
template <class T, int64_t kMost>
class Piece {
 public:
  using Computed = ComputeOf<T>;
  // x[0..n), valid until the next call.
  const Computed* Read(const T* x, int64_t n) { return ViewAs(x, n, buffer_); }
  // The place for results that Write(y, n) stores to y; for half types it is that of the elements
  // read.
  Computed* Room(T* y) {
    if constexpr (kConverts) {
      return buffer_;
    } else {
      return y;
    }
  }
  void Write(T* y, int64_t n) const {
    if constexpr (kConverts) FromFloats(buffer_, n, y);
  }

 private:
  static constexpr bool kConverts = !std::is_same_v<T, Computed>;
  alignas(64) Computed buffer_[kConverts ? kMost : 1];
};

// x[i] = f(x[i]) for i < n, in its compute type.
template <class T, class F>
void MapElements(T* x, int64_t n, const F& f) {
  if constexpr (std::is_same_v<T, ComputeOf<T>>) {
    for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
  } else {
    constexpr int64_t kBlock = 32;  // in registers
    alignas(64) float v[kBlock];
    const auto some = [&](int64_t at, int64_t count) __attribute__((always_inline)) {
      FloatsOfBlock(x + at, count, v);
      for (int64_t i = 0; i < count; ++i) v[i] = f(v[i]);
      BlockOfFloats(v, count, x + at);
    };
    int64_t at = 0;
    for (; at + kBlock <= n; at += kBlock) some(at, kBlock);
    if (at < n) some(at, n - at);
  }
}

// Calls f(values, first, count) for pieces that make up x[0, n): `values` are elements first,
// first + 1, ... as Acc, which is T itself or, for a half type, float.
template <class Acc, class T, class F>
void ForEachStripAs(const T* x, int64_t n, const F& f) {
  if constexpr (std::is_same_v<Acc, T>) {
    f(x, int64_t{0}, n);
  } else {
    constexpr int64_t kStrip = 256;
    float strip[kStrip];
    for (int64_t at = 0; at < n; at += kStrip) {
      const int64_t count = n - at < kStrip ? n - at : kStrip;
      ToFloats(x + at, count, strip);
      f(static_cast<const Acc*>(strip), at, count);
    }
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_HALF_H_
