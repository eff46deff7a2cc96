#include "tensor/ops/shape/expand.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(expand) {
  s.Function([](In in, const ShapeAttrs& a) { return Expand(in[0], a.shape.span()); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    Samples broadcast;
    broadcast.Reference([](double x, double) { return x; });
    const RefTensor shape(Shape(attrs.get<ShapeAttrs>().shape.span()));
    return broadcast.reference({in[0], shape}, attrs);
  });
  const auto to = [](std::initializer_list<int64_t> shape) {
    return ShapeAttrs{Shape(shape).dims()};
  };
  s.Add("a row", {Normal({1, 3})}, to({4, 3}));
  s.Add("new dimensions", {Normal({3})}, to({2, 4, 3}));
  s.Add("a scalar", {Normal({})}, to({2, 2}));
  s.Add("to nothing", {Normal({1, 3})}, to({0, 3}));
  s.Add("channels", {Normal({1, 8, 2, 1})}, to({3, 8, 2, 2}));
  s.AddError("sizes", {Normal({2, 3})}, to({4, 3}), "x [2, 3] does not expand to [4, 3]");
  s.AddError("fewer dimensions", {Normal({1, 3})}, to({3}), "does not expand to [3]");
}

}  // namespace
}  // namespace firn::testing
