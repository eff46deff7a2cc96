#include <algorithm>
#include <cmath>

#include "tensor/ops/cast.h"
#include "tensor/samples.h"

namespace firn::testing::cast {
namespace {

double Converted(double v, DType to) {
  const auto integer = [v](double low, double high) {
    return std::isnan(v) ? 0 : std::clamp(std::trunc(v), low, high);
  };
  switch (to) {
    case DType::kBool:
      return v != 0;
    case DType::kI8:
      return integer(-128, 127);
    case DType::kU8:
      return integer(0, 255);
    case DType::kI32:
      return integer(-2147483648.0, 2147483647.0);
    case DType::kI64:
      return integer(-0x1p63, 0x1p63);
    default:
      return v;
  }
}

}  // namespace

FIRN_REGISTER_SAMPLES(cast) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor out = in[0];
    for (double& v : out.values) v = Converted(v, attrs.get<CastAttrs>().dtype);
    return std::vector<RefTensor>{out};
  });
  for (DType to : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                   DType::kI64, DType::kU8, DType::kBool}) {
    const std::string name = DTypeName(to);
    // Gradients are checked where the result is as precise as differences need.
    s.Add("floats to " + name, {Normal({3, 5})}, CastAttrs{to}).check_gradient = to == DType::kF64;
    s.Add("integers to " + name, {Integers({7}, 0, 100)}, CastAttrs{to});
    s.Add("bool to " + name, {Booleans({7})}, CastAttrs{to});
    s.Add("extremes to " + name, {Values({0.0, -0.0, 300, 1e30, -1e30, NAN, INFINITY, -INFINITY})},
          CastAttrs{to})
        .check_gradient = false;
  }
  s.Add("channels", {Normal({2, 8, 3, 3})}, CastAttrs{DType::kF64});
  s.AddLarge("4M to f16", {Normal({2048, 2048})}, CastAttrs{DType::kF16}, 0, 25.2e6);
}

}  // namespace firn::testing::cast
