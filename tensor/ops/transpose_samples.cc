#include <utility>

#include "tensor/ops/transpose.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(transpose) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const TransposeAttrs& a = attrs.get<TransposeAttrs>();
    const RefTensor& x = in[0];
    std::vector<int64_t> sizes(x.shape.begin(), x.shape.end());
    const auto swapped = [&](std::vector<int64_t> v) {
      const auto at = [&](int64_t d) -> int64_t& {
        return v[static_cast<size_t>(d < 0 ? d + x.shape.rank() : d)];
      };
      if (!v.empty()) std::swap(at(a.dim0), at(a.dim1));
      return v;
    };
    RefTensor out{Shape(swapped(sizes))};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      out.at(at) = x.at(swapped(std::vector<int64_t>(at.begin(), at.end())));
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("matrix", {Normal({3, 5})}, TransposeAttrs{});
  s.Add("outer", {Normal({2, 8, 4})}, TransposeAttrs{0, 2});
  s.Add("neighbours", {Normal({2, 8, 3, 4})}, TransposeAttrs{-3, 2});
  s.Add("with itself", {Normal({2, 3})}, TransposeAttrs{1, 1});
  s.Add("a scalar", {Normal({})}, TransposeAttrs{0, -1});
  s.Add("nothing", {Normal({0, 3})}, TransposeAttrs{});
  s.Add("integers", {Integers({2, 3, 4}, -9, 9)}, TransposeAttrs{});
  s.AddError("dim", {Normal({3})}, TransposeAttrs{}, "dim -2 is outside");
}

}  // namespace firn::testing
