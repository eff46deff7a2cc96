#include "tensor/ops/slice_scatter.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(slice_scatter) {
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

}  // namespace firn::testing
