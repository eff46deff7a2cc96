#include "tensor/ops/slice.h"
#include "tensor/samples.h"

namespace firn::testing::slice {
namespace {

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

}  // namespace

FIRN_REGISTER_SAMPLES(slice) {
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

}  // namespace firn::testing::slice
