#include "tensor/ops/gather.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(gather) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor &x = in[0], &indices = in[1];
    const int64_t given = attrs.get<DimAttrs>().dim;
    const size_t dim = static_cast<size_t>(given < 0 ? given + x.shape.rank() : given);
    RefTensor out(indices.shape);
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      const int64_t i = static_cast<int64_t>(indices.at(at));
      from[dim] = i < 0 ? i + x.shape[static_cast<int>(dim)] : i;
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Normal({5}), Indices({4, 0, 0, 2, 1, 1})}, DimAttrs{0});
  s.Add("rows", {Normal({4, 3}), Integers({5, 3}, 0, 4)}, DimAttrs{0});
  s.Add("columns", {Normal({4, 3}), Integers({4, 2}, -3, 3)}, DimAttrs{-1});
  s.Add("in the middle", {Normal({2, 8, 3}), Integers({2, 8, 3}, 0, 8)}, DimAttrs{1});
  s.Add("fewer indices", {Normal({3, 5, 4}), Integers({2, 6, 3}, 0, 5)}, DimAttrs{1});
  s.Add("no indices", {Normal({3, 5}), Indices({}, {3, 0})}, DimAttrs{1});
  s.Add("from nothing", {Normal({3, 0}), Indices({}, {3, 0})}, DimAttrs{1});
  s.Add("integers", {Integers({5}, -9, 9), Indices({4, 1})}, DimAttrs{0});
  s.Add("bool", {Booleans({5}), Indices({4, 1})}, DimAttrs{0});
  s.AddLarge("4M", {Normal({2048, 2048}), Integers({2048, 2048}, 0, 2048)}, DimAttrs{1}, 0, 67e6);
  s.AddError("index", {Normal({2, 3}), Indices({0, 3}, {1, 2})}, DimAttrs{1},
             "indices 3 at index 1 is outside [-3, 3)");
  s.AddError("larger", {Normal({2, 3}), Integers({3, 1}, 0, 2)}, DimAttrs{1},
             "indices [3, 1] do not fit x [2, 3]");
  s.AddError("rank", {Normal({2, 3}), Indices({0})}, DimAttrs{0},
             "indices [1] do not fit x [2, 3]");
}

}  // namespace firn::testing
