// Names by number: the order of kNames is that of the enumerators.
#include "benchmarks/precision.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/precision.h"

namespace firn::benchmarks {
namespace {

constexpr const char* kNames[] = {"default", "strict", "tf32", "bf16"};

const char* NameOf(F32Math math) { return math == F32Math::kTf32 ? "tf32" : "strict"; }

}  // namespace

absl::StatusOr<Precision> ParsePrecision(std::string_view text) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<Precision>(i);
  }
  return InvalidArgument("there is no precision '", text, "' (want default, strict, tf32 or bf16)");
}

void SetPrecision(Precision precision) {
  SetMatmulMath(precision == Precision::kTf32 ? F32Math::kTf32 : F32Math::kStrict);
  SetConvMath(precision == Precision::kStrict ? F32Math::kStrict : F32Math::kTf32);
}

DType AutocastDtype(Precision precision) {
  return precision == Precision::kBf16 ? DType::kBF16 : DType::kF32;
}

std::string PrecisionName(Precision precision, Device device) {
  if (device.is_cpu()) return precision == Precision::kBf16 ? "bf16" : "f32";
  return kNames[static_cast<size_t>(precision)];
}

std::string DescribePrecision(Precision precision, Device device) {
  const std::string name = PrecisionName(precision, device);
  if (device.is_cpu()) return name;
  return absl::StrCat(name, " (matmul ", NameOf(MatmulMath()), ", conv ", NameOf(ConvMath()), ")");
}

}  // namespace firn::benchmarks
