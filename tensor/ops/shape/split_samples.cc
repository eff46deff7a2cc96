#include <algorithm>
#include <functional>

#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// The parts of x of these sizes along a dimension.
std::vector<RefTensor> Parts(const RefTensor& x, int64_t given, const std::vector<int64_t>& sizes) {
  const size_t dim = static_cast<size_t>(given < 0 ? given + x.shape.rank() : given);
  std::vector<RefTensor> parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    std::vector<int64_t> shape(x.shape.begin(), x.shape.end());
    shape[dim] = size;
    RefTensor part{Shape(shape)};
    ForEachIndex(part.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      from[dim] += start;
      part.at(at) = x.at(from);
    });
    parts.push_back(part);
    start += size;
  }
  return parts;
}

// Equal sizes that add up to n, but for the last.
std::vector<int64_t> Equal(int64_t n, int64_t size) {
  std::vector<int64_t> sizes;
  for (int64_t left = n; left > 0; left -= size) sizes.push_back(std::min(left, size));
  return sizes.empty() ? std::vector<int64_t>{0} : sizes;
}

void DeclareParts(Samples& s) {
  s.Declare({{.name = "x"}}, {{.name = "y", .same_dtype_as = "x", .variadic = true}});
  s.declaration.is_view = true;
}

template <class A>
void AddCuts(Samples& s, const A& attrs, const std::function<A(int64_t dim)>& along) {
  s.Add("a vector", {Normal({6})}, along(0));
  s.Add("columns", {Normal({3, 6})}, along(-1));
  s.Add("channels", {Normal({2, 6, 3, 3})}, along(1));
  s.Add("nothing", {Normal({6, 0})}, along(0));
  s.Add("integers", {Integers({6, 2}, -9, 9)}, along(0));
  s.Add("bool", {Booleans({6})}, along(0));
  s.AddError("a scalar", {Normal({})}, attrs, "x is 0-d");
  s.AddError("dim", {Normal({6})}, along(1), "dim 1 is outside");
}

struct SplitAttrs {
  int64_t size = 0;
  std::vector<int64_t> sizes = {};  // in place of size
  int64_t dim = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("sizes", sizes);
    v.Field("dim", dim);
  }
};

FIRN_REGISTER_COMPOSITE(split) {
  DeclareParts(s);
  s.Function([](In in, const SplitAttrs& a) {
    const int64_t dim = a.dim;
    return a.sizes.empty() ? Split(in[0], a.size, dim) : Split(in[0], a.sizes, dim);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const SplitAttrs& a = attrs.get<SplitAttrs>();
    const int64_t n = in[0].shape.dim(static_cast<int>(a.dim));
    return Parts(in[0], a.dim, a.sizes.empty() ? Equal(n, a.size) : a.sizes);
  });
  AddCuts<SplitAttrs>(s, {.size = 2},
                      [](int64_t dim) { return SplitAttrs{.size = 2, .dim = dim}; });
  s.Add("with a rest", {Normal({7, 2})}, SplitAttrs{.size = 3});
  s.Add("one part", {Normal({2})}, SplitAttrs{.size = 5});
  s.Add("sizes", {Normal({2, 6})}, SplitAttrs{.sizes = {1, 5, 0}, .dim = 1});
  s.AddError("size", {Normal({7})}, SplitAttrs{}, "size 0 does not split dim 0 of x [7]");
  s.AddError("sizes", {Normal({7})}, SplitAttrs{.sizes = {3, 3}},
             "the sizes {3, 3} do not add up to the 7 of dim 0 of x [7]");
}

struct ChunkAttrs {
  int64_t n = 1, dim = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
    v.Field("dim", dim);
  }
};

FIRN_REGISTER_COMPOSITE(chunk) {
  DeclareParts(s);
  s.Function([](In in, const ChunkAttrs& a) { return Chunk(in[0], a.n, a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const ChunkAttrs& a = attrs.get<ChunkAttrs>();
    const int64_t n = in[0].shape.dim(static_cast<int>(a.dim));
    return Parts(in[0], a.dim, Equal(n, (n + a.n - 1) / a.n));
  });
  AddCuts<ChunkAttrs>(s, {3}, [](int64_t dim) { return ChunkAttrs{3, dim}; });
  s.Add("fewer than asked for", {Normal({5})}, ChunkAttrs{4});
  s.Add("one each", {Normal({3})}, ChunkAttrs{9});
  s.AddError("n", {Normal({5})}, ChunkAttrs{0}, "wants at least one piece, got n = 0");
}

FIRN_REGISTER_COMPOSITE(unbind) {
  DeclareParts(s);
  s.Function([](In in, const DimAttrs& a) { return Unbind(in[0], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t given = attrs.get<DimAttrs>().dim;
    const int64_t dim = given < 0 ? given + in[0].shape.rank() : given;
    const int64_t n = in[0].shape[static_cast<int>(dim)];
    std::vector<RefTensor> parts =
        Parts(in[0], dim, std::vector<int64_t>(static_cast<size_t>(n), 1));
    for (RefTensor& part : parts) {
      std::vector<int64_t> shape(part.shape.begin(), part.shape.end());
      shape.erase(shape.begin() + dim);
      part.shape = Shape(shape);
    }
    return parts;
  });
  AddCuts<DimAttrs>(s, {0}, [](int64_t dim) { return DimAttrs{dim}; });
}

}  // namespace
}  // namespace firn::testing
