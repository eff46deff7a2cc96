#include "tensor/ops/arange.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(arange) {
  s.Reference([](absl::Span<const RefTensor>, AttrsRef attrs) {
    const ArangeAttrs& a = attrs.get<ArangeAttrs>();
    RefTensor out({a.size});
    for (int64_t i = 0; i < a.size; ++i) {
      out[i] = IsFloating(a.dtype) ? a.start + static_cast<double>(i) * a.step
                                   : static_cast<double>(a.first + i * a.stride);
    }
    return std::vector<RefTensor>{out};
  });
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8, DType::kBool}) {
    s.Add(DTypeName(d), {},
          ArangeAttrs{.size = 5, .start = 3, .step = 2, .first = 3, .stride = 2, .dtype = d});
  }
  s.Add("backwards", {}, ArangeAttrs{.size = 4, .first = 10, .stride = -3});
  s.Add("fractions", {}, ArangeAttrs{.size = 7, .start = -1, .step = 0.1, .dtype = DType::kF32});
  s.Add("nothing", {}, ArangeAttrs{});
  s.AddLarge("4M", {}, ArangeAttrs{.size = 1 << 22}, 0, 33.6e6);
  s.AddError("size", {}, ArangeAttrs{.size = -1}, "-1");
}

}  // namespace firn::testing
