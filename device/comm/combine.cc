// Runs of elements that fit the first-level cache, part by part: each part is read once, and the
// loops are plain enough for vectors.

#include "firn/device/comm/combine.h"

#include <algorithm>
#include <type_traits>

#include "firn/device/half_bits.h"

namespace firn::comm {
namespace {

constexpr int64_t kRun = 1024;

// How elements are stored, and what they are combined in.
template <class T>
struct Plain {
  using Stored = T;
  // Integers wrap around.
  using Wide = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                           std::type_identity<T>>::type;
  static Wide Read(T x) { return static_cast<Wide>(x); }
  static T Write(Wide x) { return static_cast<T>(x); }
};
struct Half {
  using Stored = uint16_t;
  using Wide = float;
  static float Read(uint16_t bits) { return inner::internal::FloatOfHalfBits(bits); }
  static uint16_t Write(float x) { return inner::internal::HalfBits(x); }
};
struct BFloat {
  using Stored = uint16_t;
  using Wide = float;
  static float Read(uint16_t bits) { return inner::internal::FloatOfBFloatBits(bits); }
  static uint16_t Write(float x) { return inner::internal::BFloatBits(x); }
};

template <Reduction kReduction, class E>
typename E::Wide Of(typename E::Wide a, typename E::Wide b) {
  using Wide = typename E::Wide;
  if constexpr (kReduction == Reduction::kProd) {
    return static_cast<Wide>(a * b);
  } else if constexpr (kReduction == Reduction::kMin) {
    using Signed = typename E::Stored;
    if constexpr (std::is_integral_v<Wide>) {
      return static_cast<Signed>(b) < static_cast<Signed>(a) ? b : a;
    } else {
      return b < a || b != b ? b : a;
    }
  } else if constexpr (kReduction == Reduction::kMax) {
    using Signed = typename E::Stored;
    if constexpr (std::is_integral_v<Wide>) {
      return static_cast<Signed>(b) > static_cast<Signed>(a) ? b : a;
    } else {
      return b > a || b != b ? b : a;
    }
  } else {
    return static_cast<Wide>(a + b);
  }
}

template <Reduction kReduction, class E>
void CombineAs(absl::Span<const void* const> parts, int64_t count, void* out) {
  using Stored = typename E::Stored;
  typename E::Wide sums[kRun];
  for (int64_t begin = 0; begin < count; begin += kRun) {
    const int64_t n = std::min(kRun, count - begin);
    const auto* first = static_cast<const Stored*>(parts[0]) + begin;
    for (int64_t i = 0; i < n; ++i) sums[i] = E::Read(first[i]);
    for (const void* const part : parts.subspan(1)) {
      const auto* from = static_cast<const Stored*>(part) + begin;
      for (int64_t i = 0; i < n; ++i) sums[i] = Of<kReduction, E>(sums[i], E::Read(from[i]));
    }
    auto* to = static_cast<Stored*>(out) + begin;
    if constexpr (kReduction == Reduction::kMean) {
      const auto ranks = static_cast<typename E::Wide>(parts.size());
      for (int64_t i = 0; i < n; ++i) to[i] = E::Write(sums[i] / ranks);
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = E::Write(sums[i]);
    }
  }
}

template <class E>
void CombineElements(Reduction reduction, absl::Span<const void* const> parts, int64_t count,
                     void* out) {
  switch (reduction) {
    case Reduction::kSum:
      return CombineAs<Reduction::kSum, E>(parts, count, out);
    case Reduction::kMean:
      return CombineAs<Reduction::kMean, E>(parts, count, out);
    case Reduction::kProd:
      return CombineAs<Reduction::kProd, E>(parts, count, out);
    case Reduction::kMin:
      return CombineAs<Reduction::kMin, E>(parts, count, out);
    case Reduction::kMax:
      return CombineAs<Reduction::kMax, E>(parts, count, out);
  }
}

template <class E>
void WidenAs(const void* half, int64_t count, float* wide) {
  const auto* const x = static_cast<const uint16_t*>(half);
  for (int64_t i = 0; i < count; ++i) wide[i] = E::Read(x[i]);
}
template <class E>
void NarrowAs(const float* wide, int64_t count, void* half) {
  auto* const x = static_cast<uint16_t*>(half);
  for (int64_t i = 0; i < count; ++i) x[i] = E::Write(wide[i]);
}
template <class T>
void DivideAs(int by, int64_t count, void* data) {
  T* const x = static_cast<T*>(data);
  for (int64_t i = 0; i < count; ++i) x[i] /= static_cast<T>(by);
}

}  // namespace

void Widen(Element element, const void* half, int64_t count, float* wide) {
  element == Element::kF16 ? WidenAs<Half>(half, count, wide) : WidenAs<BFloat>(half, count, wide);
}

void Narrow(Element element, const float* wide, int64_t count, void* half) {
  element == Element::kF16 ? NarrowAs<Half>(wide, count, half)
                           : NarrowAs<BFloat>(wide, count, half);
}

void Divide(Element element, int by, int64_t count, void* x) {
  element == Element::kF64 ? DivideAs<double>(by, count, x) : DivideAs<float>(by, count, x);
}

void Combine(Element element, Reduction reduction, absl::Span<const void* const> parts,
             int64_t count, void* out) {
  switch (element) {
    case Element::kF32:
      return CombineElements<Plain<float>>(reduction, parts, count, out);
    case Element::kF64:
      return CombineElements<Plain<double>>(reduction, parts, count, out);
    case Element::kF16:
      return CombineElements<Half>(reduction, parts, count, out);
    case Element::kBF16:
      return CombineElements<BFloat>(reduction, parts, count, out);
    case Element::kI8:
      return CombineElements<Plain<int8_t>>(reduction, parts, count, out);
    case Element::kI32:
      return CombineElements<Plain<int32_t>>(reduction, parts, count, out);
    case Element::kI64:
      return CombineElements<Plain<int64_t>>(reduction, parts, count, out);
    case Element::kU8:
      return CombineElements<Plain<uint8_t>>(reduction, parts, count, out);
  }
}

}  // namespace firn::comm
