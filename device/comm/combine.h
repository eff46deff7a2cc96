#ifndef FIRN_DEVICE_COMM_COMBINE_H_
#define FIRN_DEVICE_COMM_COMBINE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "firn/device/comm/collective.h"

namespace firn::comm {

// Reduces parts[0][i], parts[1][i], ... to out[i], in this order, half types in f32 and rounded
// once. `out` may be one of the parts. Requires: at least one part, and floats for kMean.
void Combine(Element element, Reduction reduction, absl::Span<const void* const> parts,
             int64_t count, void* out);

// Half types as f32 and back, rounded to nearest even. Requires: kF16 or kBF16.
void Widen(Element element, const void* half, int64_t count, float* wide);
void Narrow(Element element, const float* wide, int64_t count, void* half);
// x[i] / by. Requires: kF32 or kF64.
void Divide(Element element, int by, int64_t count, void* x);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_COMBINE_H_
