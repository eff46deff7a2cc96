#include <cmath>

#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(arange) {
  s.Function([](In, const ArangeAttrs& a) {
    const ArangeOptions options{.dtype = a.dtype, .device = {a.device_type, a.device_index}};
    if (!IsFloating(a.dtype)) {
      return Arange(a.first, a.first + a.size * a.stride, a.stride, options);
    }
    // Half a step short, so that rounding does not matter.
    const double end = a.start + (static_cast<double>(a.size) - 0.5) * a.step;
    return Arange(a.start, end, a.step, options);
  });
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

FIRN_REGISTER_SAMPLES(linspace) {
  s.Function([](In, const LinspaceAttrs& a) {
    return Linspace(a.start, a.end, a.steps, a.dtype, {a.device_type, a.device_index});
  });
  s.Reference([](absl::Span<const RefTensor>, AttrsRef attrs) {
    const LinspaceAttrs& a = attrs.get<LinspaceAttrs>();
    RefTensor out({a.steps});
    for (int64_t i = 0; i < a.steps; ++i) {
      const double share =
          a.steps == 1 ? 0 : static_cast<double>(i) / static_cast<double>(a.steps - 1);
      const double v = (1 - share) * a.start + share * a.end;
      out[i] = IsFloating(a.dtype) ? v : std::trunc(v);
    }
    return std::vector<RefTensor>{out};
  });
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8, DType::kBool}) {
    s.Add(DTypeName(d), {}, LinspaceAttrs{1, 9, 5, d});
  }
  s.Add("backwards", {}, LinspaceAttrs{1, -1, 8, DType::kF64});
  s.Add("one", {}, LinspaceAttrs{3, 5, 1});
  s.Add("two", {}, LinspaceAttrs{3, 5, 2});
  s.Add("none", {}, LinspaceAttrs{3, 5, 0});
  s.AddLarge("4M", {}, LinspaceAttrs{0, 1, 1 << 22}, 0, 16.8e6);
  s.AddError("steps", {}, LinspaceAttrs{0, 1, -1}, "-1");
}

FIRN_REGISTER_GOLDEN(arange) {
  const Tensor start = args["start"], end = args["end"];
  const Tensor step = args.Has("step") ? args["step"] : Tensor(1);
  if (start.dtype() == DType::kI64) {
    return Arange(start.Item<int64_t>(), end.Item<int64_t>(), step.Item<int64_t>());
  }
  return Arange(start.Item<double>(), end.Item<double>(), step.Item<double>());
}

}  // namespace
}  // namespace firn::testing
