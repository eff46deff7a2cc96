#include "firn/tensor/ops/shape/shape_of.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct ShapeOfAttrs {
  int64_t start = 0, end = kEnd;
  template <class V>
  void Visit(V& v) {
    v.Field("start", start);
    v.Field("end", end);
  }
};

FIRN_REGISTER_COMPOSITE(shape_of) {
  s.Declare({{.name = "x"}}, {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const ShapeOfAttrs& a) { return ShapeOf(in[0], a.start, a.end); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const ShapeOfAttrs& a = attrs.get<ShapeOfAttrs>();
    const Shape& shape = in[0].shape;
    std::vector<double> sizes;
    for (int d = 0; d < shape.rank(); ++d) {
      const bool begun = d >= (a.start < 0 ? a.start + shape.rank() : a.start);
      const bool ended = d >= (a.end < 0 ? a.end + shape.rank() : a.end);
      if (begun && !ended) sizes.push_back(static_cast<double>(shape[d]));
    }
    RefTensor y(Shape{static_cast<int64_t>(sizes.size())});
    y.values = sizes;
    return std::vector<RefTensor>{y};
  });
  s.Add("all", {Normal({2, 3, 4})}, ShapeOfAttrs{});
  s.Add("some", {Normal({2, 3, 4, 5})}, ShapeOfAttrs{1, 3});
  s.Add("from the end", {Normal({1, 8, 2, 2})}, ShapeOfAttrs{-3, -1});
  s.Add("outside", {Normal({2, 3})}, ShapeOfAttrs{-9, 9});
  s.Add("none", {Normal({2, 3})}, ShapeOfAttrs{1, 1});
  s.Add("nothing in x", {Normal({0, 3})}, ShapeOfAttrs{});
  s.Add("0-d", {Normal({})}, ShapeOfAttrs{});
  s.Add("integers", {Integers({5}, 0, 9)}, ShapeOfAttrs{});
  s.Add("bool", {Booleans({5})}, ShapeOfAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048})}, ShapeOfAttrs{}, 0, 16);
  s.AddError("undefined", {Tensor()}, ShapeOfAttrs{}, "undefined");
}

}  // namespace
}  // namespace firn::testing
