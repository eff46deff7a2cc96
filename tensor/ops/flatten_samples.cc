#include "tensor/ops/flatten.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(flatten) {
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

}  // namespace firn::testing
