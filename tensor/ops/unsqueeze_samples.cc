#include "tensor/ops/unsqueeze.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(unsqueeze) {
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

}  // namespace firn::testing
