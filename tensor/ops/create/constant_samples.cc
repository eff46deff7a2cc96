#include <cmath>

#include "tensor/ops/create/constant.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(full) {
  s.Function([](In, const FullAttrs& a) {
    return Full(Shape(a.shape.span()), a.value, a.dtype, {a.device_type, a.device_index});
  });
  s.Reference([](absl::Span<const RefTensor>, AttrsRef attrs) {
    const FullAttrs& a = attrs.get<FullAttrs>();
    const double value = a.dtype == DType::kBool ? a.value != 0
                         : IsFloating(a.dtype)   ? a.value
                                                 : std::trunc(a.value);
    return std::vector<RefTensor>{RefTensor(Shape(a.shape.span()), value)};
  });
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8, DType::kBool}) {
    s.Add(DTypeName(d), {}, FullAttrs{Shape({2, 3}).dims(), 2.7, d});
  }
  s.Add("a scalar", {}, FullAttrs{Dims(0), -1});
  s.Add("nothing", {}, FullAttrs{Shape({0, 3}).dims(), 1});
  s.AddLarge("4M", {}, FullAttrs{Shape({2048, 2048}).dims(), 1}, 0, 16.8e6);
}

}  // namespace
}  // namespace firn::testing
