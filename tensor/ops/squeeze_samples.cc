#include <algorithm>

#include "tensor/ops/squeeze.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(squeeze) {
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

}  // namespace firn::testing
