#ifndef FIRN_BENCHMARKS_PRECISION_H_
#define FIRN_BENCHMARKS_PRECISION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/device/device.h"
#include "firn/tensor/dtype.h"

namespace firn::benchmarks {

// The arithmetic of a measurement, by the name that the peers' workers use.
enum class Precision : uint8_t {
  kDefault,  // PyTorch's: f32, with TF32 in convolutions
  kStrict,   // f32 throughout
  kTf32,     // TF32 in convolutions and products of matrices
  kBf16,     // convolutions and products in bf16 by autocast, the rest as kDefault
};

// Reads "default", "strict", "tf32" and "bf16". InvalidArgument, listing these, for another text.
absl::StatusOr<Precision> ParsePrecision(std::string_view text);

// Sets MatmulMath and ConvMath for the whole process, from the next operation on.
void SetPrecision(Precision precision);

// The dtype for an AutocastScope around the forward pass, which SetPrecision does not set. kF32
// means no AutocastScope.
DType AutocastDtype(Precision precision);

// The text in a row of results: the one that ParsePrecision reads, but "f32" or "bf16" on the CPU,
// which knows no TF32.
std::string PrecisionName(Precision precision, Device device);

// The text for people: on a CUDA device also what MatmulMath and ConvMath are now, "default (matmul
// strict, conv tf32)".
std::string DescribePrecision(Precision precision, Device device);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_PRECISION_H_
