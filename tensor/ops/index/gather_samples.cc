#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(gather) {
  s.Function([](In in, const DimAttrs& a) { return Gather(in[0], a.dim, in[1]); });
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

FIRN_REGISTER_SAMPLES(scatter_add) {
  s.Function([](In in, const DimAttrs& a) { return ScatterAdd(in[0], a.dim, in[1], in[2]); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t given = attrs.get<DimAttrs>().dim;
    const size_t dim = static_cast<size_t>(given < 0 ? given + in[0].shape.rank() : given);
    RefTensor out = in[0];
    ForEachIndex(in[1].shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> to(at.begin(), at.end());
      const int64_t i = static_cast<int64_t>(in[1].at(at));
      to[dim] = i < 0 ? i + out.shape[static_cast<int>(dim)] : i;
      out.at(to) += in[2].at(at);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Normal({5}), Indices({4, 0, 0}), Normal({3}, 2)}, DimAttrs{0});
  s.Add("rows", {Normal({4, 3}), Integers({5, 3}, 0, 4), Normal({5, 3}, 2)}, DimAttrs{0});
  s.Add("columns", {Normal({4, 3}), Integers({4, 2}, -3, 3), Normal({4, 2}, 2)}, DimAttrs{-1});
  s.Add("in the middle", {Normal({2, 8, 3}), Integers({2, 8, 3}, 0, 8), Normal({2, 8, 3}, 2)},
        DimAttrs{1});
  s.Add("fewer indices", {Normal({3, 5, 4}), Integers({2, 6, 3}, 0, 5), Normal({3, 7, 3}, 2)},
        DimAttrs{1});
  s.Add("no indices", {Normal({3, 5}), Indices({}, {3, 0}), Normal({3, 2}, 2)}, DimAttrs{1});
  s.Add("to nothing", {Normal({3, 0}), Indices({}, {3, 0}), Normal({3, 0})}, DimAttrs{1});
  s.Add("integers", {Integers({3}, -9, 9), Indices({2, 2}), Integers({2}, -9, 9)}, DimAttrs{0});
  s.AddLarge("4M", {Normal({2048, 2048}), Integers({2048, 2048}, 0, 2048), Normal({2048, 2048}, 2)},
             DimAttrs{1}, 4.2e6, 84e6);
  s.AddError("index", {Normal({2, 3}), Indices({3}, {1, 1}), Normal({1, 1})}, DimAttrs{1},
             "indices 3 at index 0 is outside [-3, 3)");
  s.AddError("source", {Normal({2, 3}), Integers({2, 2}, 0, 2), Normal({2, 1})}, DimAttrs{1},
             "indices [2, 2] are more than source [2, 1] in dim 1");
  s.AddError("source outside dim", {Normal({2, 3}), Integers({2, 2}, 0, 2), Normal({1, 2})},
             DimAttrs{1}, "indices [2, 2] do not fit source [1, 2]");
}

}  // namespace
}  // namespace firn::testing
