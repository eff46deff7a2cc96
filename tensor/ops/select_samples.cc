#include "tensor/ops/select.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(select) {
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

}  // namespace firn::testing
