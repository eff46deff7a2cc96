#ifndef FIRN_BENCHMARKS_PRECISION_H_
#define FIRN_BENCHMARKS_PRECISION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/device/device.h"
#include "firn/tensor/dtype.h"

namespace firn::benchmarks {

// The arithmetic that numbers are taken under, as the peers' workers name it.
enum class Precision : uint8_t {
  kDefault,  // PyTorch's: f32, with TF32 in convolutions
  kStrict,   // f32 throughout
  kTf32,     // TF32 in convolutions and products of matrices
  kBf16,     // these in bf16 by autocast, the rest as kDefault
};

// Reads "default", "strict", "tf32" and "bf16". InvalidArgument, listing these, for another text.
absl::StatusOr<Precision> ParsePrecision(std::string_view text);

// Sets MatmulMath and ConvMath for the whole process, from the next operation on.
void SetPrecision(Precision precision);

// The rest of it: what an AutocastScope around the forward pass gets. kF32: none.
DType AutocastDtype(Precision precision);

// What stands in a row: the text that ParsePrecision reads, but "f32" or "bf16" on the CPU, which
// knows no TF32.
std::string PrecisionName(Precision precision, Device device);

// For people: on a CUDA device also what MatmulMath and ConvMath are now, "default (matmul strict,
// conv tf32)".
std::string DescribePrecision(Precision precision, Device device);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_PRECISION_H_
