#include "tensor/ops/permute.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(permute) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    DimList dims = attrs.get<PermuteAttrs>().dims;
    const RefTensor& x = in[0];
    std::vector<int64_t> sizes;
    for (int64_t& d : dims) {
      if (d < 0) d += x.shape.rank();
      sizes.push_back(x.shape[static_cast<int>(d)]);
    }
    RefTensor out{Shape(sizes)};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(dims.size());
      for (size_t i = 0; i < dims.size(); ++i) from[static_cast<size_t>(dims.data()[i])] = at[i];
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("matrix", {Normal({3, 5})}, PermuteAttrs{{1, 0}});
  s.Add("channels last", {Normal({2, 8, 3, 4})}, PermuteAttrs{{0, 2, 3, 1}});
  s.Add("from the end", {Normal({2, 3, 4})}, PermuteAttrs{{-1, -3, -2}});
  s.Add("as it is", {Normal({2, 3})}, PermuteAttrs{{0, 1}});
  s.Add("a scalar", {Normal({})}, PermuteAttrs{});
  s.Add("nothing", {Normal({0, 3})}, PermuteAttrs{{1, 0}});
  s.Add("integers", {Integers({2, 3, 4}, -9, 9)}, PermuteAttrs{{2, 0, 1}});
  s.AddError("too few", {Normal({2, 3})}, PermuteAttrs{{0}}, "do not name every dimension");
  s.AddError("twice", {Normal({2, 3})}, PermuteAttrs{{0, -2}}, "dim");
}

}  // namespace firn::testing
