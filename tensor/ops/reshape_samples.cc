#include "tensor/ops/expand.h"
#include "tensor/ops/reshape.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(reshape) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor out = in[0];
    out.shape = Shape(attrs.get<ShapeAttrs>().shape.span());
    return std::vector<RefTensor>{out};
  });
  const auto to = [](std::initializer_list<int64_t> shape) {
    return ShapeAttrs{Shape(shape).dims()};
  };
  s.Add("flat", {Normal({3, 4})}, to({12}));
  s.Add("split", {Normal({12})}, to({2, 3, 2}));
  s.Add("regrouped", {Normal({2, 6})}, to({3, 4}));
  s.Add("ones", {Normal({4})}, to({1, 4, 1}));
  s.Add("a scalar", {Normal({1, 1})}, to({}));
  s.Add("nothing", {Normal({0, 3})}, to({5, 0}));
  s.Add("channels", {Normal({2, 8, 2, 2})}, to({2, 32}));
  s.AddError("sizes", {Normal({2, 3})}, to({4}), "x [2, 3] has 6 elements, shape [4] has 4");
}

}  // namespace firn::testing
