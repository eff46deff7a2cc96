// Names of element types and the promotion table.
//
// Promotion orders the types bool < u8, i8 < i32 < i64 < f16, bf16 < f32 < f64 and takes the
// larger; the two pairs that are not ordered (u8 and i8, f16 and bf16) go to the next type above
// both.

#include "firn/tensor/dtype.h"

#include <algorithm>

#include "firn/device/inner.h"

namespace firn {
namespace {

// Position in the promotion order; equal ranks are the unordered pairs.
int Rank(DType d) {
  constexpr int kRanks[kNumDTypes] = {5, 6, 4, 4, 1, 2, 3, 1, 0};
  return kRanks[static_cast<int>(d)];
}

}  // namespace

const char* DTypeName(DType d) {
  const char* const word = WordFor(d);
  return word != nullptr ? word : "?";
}

std::ostream& operator<<(std::ostream& os, DType d) { return os << DTypeName(d); }

std::string inner::DTypeNames(DTypeSet set) {
  std::string text;
  int left = std::popcount(set);
  for (int i = 0; i < kNumDTypes; ++i) {
    if (!Contains(set, static_cast<DType>(i))) continue;
    text += DTypeName(static_cast<DType>(i));
    --left;
    if (left > 0) text += left == 1 ? " or " : ", ";
  }
  return text;
}

DType Promote(DType a, DType b) {
  if (a == b) return a;
  if (Rank(a) != Rank(b)) return Rank(a) > Rank(b) ? a : b;
  return IsFloating(a) ? DType::kF32 : DType::kI32;
}

}  // namespace firn
