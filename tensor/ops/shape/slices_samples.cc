#include "firn/tensor/ops/shape/moved_samples.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(select) {
  s.Function([](In in, const SelectAttrs& a) { return Select(in[0], a.dim, a.index); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const SelectAttrs& a = attrs.get<SelectAttrs>();
    const RefTensor& x = in[0];
    const int64_t dim = a.dim < 0 ? a.dim + x.shape.rank() : a.dim;
    const int64_t n = x.shape[static_cast<int>(dim)];
    std::vector<int64_t> sizes(x.shape.begin(), x.shape.end());
    sizes.erase(sizes.begin() + dim);
    RefTensor out{Shape(sizes)};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      from.insert(from.begin() + dim, a.index < 0 ? a.index + n : a.index);
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("a number", {Normal({5})}, SelectAttrs{0, 3});
  s.Add("a row", {Normal({3, 5})}, SelectAttrs{0, 1});
  s.Add("the last column", {Normal({3, 5})}, SelectAttrs{-1, -1});
  s.Add("a channel", {Normal({2, 8, 3})}, SelectAttrs{1, -3});
  s.Add("of nothing", {Normal({2, 0})}, SelectAttrs{0, 1});
  s.Add("integers", {Integers({3, 4}, -9, 9)}, SelectAttrs{1, 2});
  s.AddError("index", {Normal({3, 5})}, SelectAttrs{1, 5}, "index 5 is outside dim 1 of x [3, 5]");
  s.AddError("negative", {Normal({3})}, SelectAttrs{0, -4}, "index -4 is outside dim 0 of x [3]");
  s.AddError("dim", {Normal({3})}, SelectAttrs{1, 0}, "dim 1 is outside");
  s.AddError("a scalar", {Normal({})}, SelectAttrs{0, 0}, "x is 0-d");
}

// Python's rule, one position at a time.
std::vector<int64_t> Positions(int64_t n, const SliceAttrs& a) {
  const auto from_front = [n](int64_t p) { return p < 0 ? p + n : p; };
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t start = std::max<int64_t>(from_front(a.start), 0);
    if (i >= start && i < from_front(a.end) && (i - start) % a.step == 0) positions.push_back(i);
  }
  return positions;
}

FIRN_REGISTER_SAMPLES(slice) {
  s.Function(
      [](In in, const SliceAttrs& a) { return Slice(in[0], a.dim, a.start, a.end, a.step); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const SliceAttrs& a = attrs.get<SliceAttrs>();
    const RefTensor& x = in[0];
    const size_t dim = static_cast<size_t>(a.dim < 0 ? a.dim + x.shape.rank() : a.dim);
    const std::vector<int64_t> positions = Positions(x.shape.dim(static_cast<int>(a.dim)), a);
    std::vector<int64_t> sizes(x.shape.begin(), x.shape.end());
    sizes[dim] = static_cast<int64_t>(positions.size());
    RefTensor out{Shape(sizes)};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      from[dim] = positions[static_cast<size_t>(at[dim])];
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Normal({7})}, SliceAttrs{0, 2, 5});
  s.Add("every other", {Normal({7})}, SliceAttrs{0, 1, kEnd, 2});
  s.Add("columns", {Normal({3, 5})}, SliceAttrs{-1, 1, 4});
  s.Add("from the end", {Normal({3, 5})}, SliceAttrs{1, -3, -1});
  s.Add("channels", {Normal({2, 8, 3})}, SliceAttrs{1, 2, 8, 3});
  s.Add("all", {Normal({2, 3})}, SliceAttrs{});
  s.Add("beyond both ends", {Normal({5})}, SliceAttrs{0, -100, 100});
  s.Add("start behind end", {Normal({5})}, SliceAttrs{0, 4, 2});
  s.Add("a step over the end", {Normal({5, 2})}, SliceAttrs{0, 3, kEnd, 100});
  s.Add("of nothing", {Normal({0, 3})}, SliceAttrs{0, 1, 2});
  s.Add("integers", {Integers({6}, -9, 9)}, SliceAttrs{0, 0, kEnd, 2});
  s.AddError("dim", {Normal({5})}, SliceAttrs{1, 0, 2}, "dim 1 is outside");
  s.AddError("step 0", {Normal({5})}, SliceAttrs{0, 0, 2, 0}, "step 0 is not positive");
  s.AddError("a scalar", {Normal({})}, SliceAttrs{}, "no dimension to slice");
}

FIRN_REGISTER_SAMPLES(slice_scatter) {
  s.Function([](In in, const SliceAttrs& a) {
    return SliceScatter(in[0], in[1], a.dim, a.start, a.end, a.step);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const SliceAttrs& a = attrs.get<SliceAttrs>();
    const int rank = in[0].shape.rank();
    const size_t dim = static_cast<size_t>(a.dim < 0 ? a.dim + rank : a.dim);
    const int64_t n = in[0].shape[static_cast<int>(dim)];
    const int64_t start = std::max<int64_t>(a.start < 0 ? a.start + n : a.start, 0);
    RefTensor out = in[0];
    ForEachIndex(in[1].shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> to(at.begin(), at.end());
      to[dim] = start + at[dim] * a.step;
      out.at(to) = in[1].at(at);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Normal({7}), Normal({3}, 2)}, SliceAttrs{0, 2, 5});
  s.Add("rows", {Normal({5, 3}), Normal({2, 3}, 2)}, SliceAttrs{0, 1, 3});
  s.Add("columns", {Normal({2, 5, 3}), Normal({2, 2, 3}, 2)}, SliceAttrs{-2, -2, kEnd});
  s.Add("every third", {Normal({2, 8, 3}), Normal({2, 3, 3}, 2)}, SliceAttrs{1, 0, kEnd, 3});
  s.Add("all", {Normal({2, 3}), Normal({2, 3}, 2)}, SliceAttrs{});
  s.Add("nothing", {Normal({4, 3}), Normal({0, 3}, 2)}, SliceAttrs{0, 3, 2});
  s.Add("into nothing", {Normal({0, 3}), Normal({0, 3}, 2)}, SliceAttrs{0, 1, 2});
  s.Add("integers", {Integers({6}, -9, 9), Integers({3}, -9, 9, 2)}, SliceAttrs{0, 0, kEnd, 2});
  s.Add("bool", {Booleans({6}), Booleans({2}, 2)}, SliceAttrs{0, 4, kEnd});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 1024}, 2)}, SliceAttrs{1, 512, 1536}, 0,
             33.6e6);
  s.AddError("source", {Normal({5, 3}), Normal({3, 3})}, SliceAttrs{0, 1, 3},
             "source [3, 3] does not fit the slice [2, 3] of x [5, 3]");
  s.AddError("dtypes", {Normal({3}), Integers({1}, 0, 9)}, SliceAttrs{0, 0, 1},
             "x is f64 but source is i64");
}

struct NarrowAttrs {
  int64_t dim = 0, start = 0, length = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("start", start);
    v.Field("length", length);
  }
};

FIRN_REGISTER_COMPOSITE(narrow) {
  s.Declare({{.name = "x", .min_rank = 1}});
  s.Function([](In in, const NarrowAttrs& a) { return Narrow(in[0], a.dim, a.start, a.length); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const NarrowAttrs& a = attrs.get<NarrowAttrs>();
    Dims shape = in[0].shape.dims();
    const auto d = static_cast<int>(a.dim < 0 ? a.dim + shape.rank : a.dim);
    const int64_t start = a.start < 0 ? a.start + shape[d] : a.start;
    shape[d] = a.length;
    return std::vector<RefTensor>{Moved(in[0], Shape::Trusted(shape), [&](Index y) {
      y[static_cast<size_t>(d)] += start;
      return y;
    })};
  });
  s.Add("rows", {Normal({5, 3})}, NarrowAttrs{0, 1, 3});
  s.Add("from the end", {Normal({2, 8})}, NarrowAttrs{-1, -3, 2});
  s.Add("none", {Normal({2, 3})}, NarrowAttrs{1, 3, 0});
  s.Add("integers", {Integers({4}, 0, 9)}, NarrowAttrs{0, 0, 4});
  s.Add("bool", {Booleans({4})}, NarrowAttrs{0, 1, 2});
  s.AddLarge("columns", {Normal({1024, 1024})}, NarrowAttrs{1, 100, 512}, 0, 0);
  s.AddError("length", {Normal({5})}, NarrowAttrs{0, 2, 4},
             "start 2 and length 4 lie outside dim 0 of x [5]");
}

}  // namespace
}  // namespace firn::testing
