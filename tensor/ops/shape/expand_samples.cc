#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/testing/samples.h"

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

struct TileAttrs {
  std::vector<int64_t> repeats;
  template <class V>
  void Visit(V& v) {
    v.Field("repeats", repeats);
  }
};

FIRN_REGISTER_COMPOSITE(tile) {
  s.Declare({{.name = "x"}});
  s.Function([](In in, const TileAttrs& a) { return Tile(in[0], a.repeats); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    std::vector<int64_t> repeats = attrs.get<TileAttrs>().repeats;
    std::vector<int64_t> own(in[0].shape.begin(), in[0].shape.end());
    while (repeats.size() < own.size()) repeats.insert(repeats.begin(), 1);
    const size_t lead = repeats.size() - own.size();
    std::vector<int64_t> sizes = repeats;
    for (size_t d = lead; d < sizes.size(); ++d) sizes[d] *= own[d - lead];
    RefTensor y{Shape(sizes)};
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from;
      for (size_t d = lead; d < at.size(); ++d) from.push_back(at[d] % own[d - lead]);
      y.at(at) = in[0].at(from);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("a vector", {Normal({3})}, TileAttrs{{2}});
  s.Add("both dimensions", {Normal({2, 3})}, TileAttrs{{2, 3}});
  s.Add("more repeats", {Normal({2})}, TileAttrs{{2, 1, 2}});
  s.Add("fewer repeats", {Normal({2, 2})}, TileAttrs{{3}});
  s.Add("channels", {Normal({1, 8, 2, 2})}, TileAttrs{{2, 2, 1, 1}});
  s.Add("none", {Normal({2, 2})}, TileAttrs{{0, 1}});
  s.Add("a scalar", {Normal({})}, TileAttrs{{3}});
  s.Add("integers", {Integers({3}, -9, 9)}, TileAttrs{{2}});
  s.Add("bool", {Booleans({3})}, TileAttrs{{2}});
  s.AddError("negative", {Normal({3})}, TileAttrs{{-1}}, "a number of repeats is negative: -1");
}

}  // namespace
}  // namespace firn::testing
