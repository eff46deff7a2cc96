#include <algorithm>

#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(reshape) {
  s.Function([](In in, const ShapeAttrs& a) { return Reshape(in[0], a.shape.span()); });
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

FIRN_REGISTER_SAMPLES(flatten) {
  s.Function([](In in, const FlattenAttrs& a) { return Flatten(in[0], a.start_dim, a.end_dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const FlattenAttrs& a = attrs.get<FlattenAttrs>();
    const int rank = in[0].shape.rank();
    const int64_t start = a.start_dim < 0 ? a.start_dim + rank : a.start_dim;
    const int64_t end = a.end_dim < 0 ? a.end_dim + rank : a.end_dim;
    std::vector<int64_t> sizes;
    int64_t joined = 1;
    for (int d = 0; d < rank; ++d) {
      if (d < start || d > end) sizes.push_back(in[0].shape[d]);
      if (d >= start && d <= end) joined *= in[0].shape[d];
      if (d == end) sizes.push_back(joined);
    }
    if (rank == 0) sizes = {1};
    RefTensor out = in[0];
    out.shape = Shape(sizes);
    return std::vector<RefTensor>{out};
  });
  s.Add("all", {Normal({2, 3, 4})}, FlattenAttrs{});
  s.Add("behind the batch", {Normal({2, 8, 2, 2})}, FlattenAttrs{1, -1});
  s.Add("in the middle", {Normal({2, 3, 4, 2})}, FlattenAttrs{1, 2});
  s.Add("one dimension", {Normal({2, 3})}, FlattenAttrs{1, 1});
  s.Add("a scalar", {Normal({})}, FlattenAttrs{});
  s.Add("nothing", {Normal({2, 0, 3})}, FlattenAttrs{1, 2});
  s.Add("integers", {Integers({2, 3}, -5, 5)}, FlattenAttrs{});
  s.AddError("order", {Normal({2, 3})}, FlattenAttrs{1, 0}, "start_dim 1 lies behind end_dim 0");
  s.AddError("dim", {Normal({2, 3})}, FlattenAttrs{0, 2}, "dim 2 is outside");
}

FIRN_REGISTER_SAMPLES(squeeze) {
  s.Function([](In in, const SqueezeAttrs& a) { return Squeeze(in[0], a.dims); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const DimList& dims = attrs.get<SqueezeAttrs>().dims;
    const int rank = in[0].shape.rank();
    std::vector<int64_t> sizes;
    for (int d = 0; d < rank; ++d) {
      const bool listed = dims.empty() || std::count(dims.begin(), dims.end(), d) > 0 ||
                          std::count(dims.begin(), dims.end(), d - rank) > 0;
      if (in[0].shape[d] != 1 || !listed) sizes.push_back(in[0].shape[d]);
    }
    RefTensor out = in[0];
    out.shape = Shape(sizes);
    return std::vector<RefTensor>{out};
  });
  s.Add("all", {Normal({1, 3, 1, 4, 1})}, SqueezeAttrs{});
  s.Add("one", {Normal({1, 3, 1})}, SqueezeAttrs{{-1}});
  s.Add("two", {Normal({1, 8, 1, 1})}, SqueezeAttrs{{2, 0}});
  s.Add("not of size 1", {Normal({1, 3})}, SqueezeAttrs{{0, 1}});
  s.Add("to a scalar", {Normal({1, 1})}, SqueezeAttrs{});
  s.Add("a scalar", {Normal({})}, SqueezeAttrs{});
  s.Add("nothing", {Normal({1, 0})}, SqueezeAttrs{});
  s.Add("integers", {Integers({1, 3}, -5, 5)}, SqueezeAttrs{});
  s.AddError("dim", {Normal({1, 3})}, SqueezeAttrs{{2}}, "dim 2 is outside");
  s.AddError("twice", {Normal({1, 3})}, SqueezeAttrs{{0, -2}}, "dim");
}

FIRN_REGISTER_SAMPLES(unsqueeze) {
  s.Function([](In in, const DimAttrs& a) { return Unsqueeze(in[0], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end());
    const int64_t dim = attrs.get<DimAttrs>().dim;
    sizes.insert(dim < 0 ? sizes.end() + dim + 1 : sizes.begin() + dim, 1);
    RefTensor out = in[0];
    out.shape = Shape(sizes);
    return std::vector<RefTensor>{out};
  });
  s.Add("in front", {Normal({3, 4})}, DimAttrs{0});
  s.Add("at the end", {Normal({3, 4})}, DimAttrs{-1});
  s.Add("between", {Normal({2, 8, 3})}, DimAttrs{1});
  s.Add("counted from the end", {Normal({2, 8, 3})}, DimAttrs{-4});
  s.Add("a scalar", {Normal({})}, DimAttrs{0});
  s.Add("nothing", {Normal({0, 2})}, DimAttrs{1});
  s.Add("integers", {Integers({2, 3}, -5, 5)}, DimAttrs{2});
  s.AddError("dim", {Normal({3, 4})}, DimAttrs{3}, "dim 3 is outside [-3, 2]");
  s.AddError("rank", {Normal({1, 1, 1, 1, 1, 1, 1, 1})}, DimAttrs{0}, "already has the most");
}

struct UnflattenAttrs {
  int64_t dim = 0;
  std::vector<int64_t> sizes;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("sizes", sizes);
  }
};

FIRN_REGISTER_COMPOSITE(unflatten) {
  s.Declare({{.name = "x", .min_rank = 1}});
  s.Function([](In in, const UnflattenAttrs& a) { return Unflatten(in[0], a.dim, a.sizes); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const UnflattenAttrs& a = attrs.get<UnflattenAttrs>();
    const auto d = static_cast<int>(a.dim < 0 ? a.dim + in[0].shape.rank() : a.dim);
    Dims shape;
    for (int i = 0; i < in[0].shape.rank(); ++i) {
      if (i != d) shape.push_back(in[0].shape[i]);
      int64_t known = 1;
      for (int64_t size : a.sizes) known *= i == d && size > 0 ? size : 1;
      for (int64_t size : a.sizes) {
        if (i == d) shape.push_back(size < 0 ? in[0].shape[d] / known : size);
      }
    }
    RefTensor y = in[0];
    y.shape = Shape::Trusted(shape);
    return std::vector<RefTensor>{y};
  });
  s.Add("in the middle", {Normal({2, 6, 3})}, UnflattenAttrs{1, {2, 3}});
  s.Add("inferred", {Normal({2, 8})}, UnflattenAttrs{-1, {2, -1, 2}});
  s.Add("one", {Normal({4})}, UnflattenAttrs{0, {-1}});
  s.Add("nothing", {Normal({0, 2})}, UnflattenAttrs{0, {0, 3}});
  s.Add("integers", {Integers({4}, 0, 9)}, UnflattenAttrs{0, {2, 2}});
  s.Add("bool", {Booleans({4})}, UnflattenAttrs{0, {2, 2}});
  s.AddLarge("1M", {Normal({1024, 1024})}, UnflattenAttrs{1, {32, 32}}, 0, 0);
  s.AddError("sizes", {Normal({2, 6})}, UnflattenAttrs{1, {4, 2}},
             "sizes (4, 2) do not make up the size 6 of dim 1");
}

}  // namespace
}  // namespace firn::testing
