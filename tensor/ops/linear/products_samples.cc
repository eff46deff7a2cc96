#include <algorithm>

#include "firn/tensor/ops/linear/products.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> KronOf(absl::Span<const RefTensor> in, AttrsRef) {
  const int rank = std::max(in[0].shape.rank(), in[1].shape.rank());
  const auto size = [&](const RefTensor& t, int d) {
    const int own = d - (rank - t.shape.rank());
    return own < 0 ? int64_t{1} : t.shape[own];
  };
  Dims shape;
  for (int d = 0; d < rank; ++d) shape.push_back(size(in[0], d) * size(in[1], d));
  RefTensor z(Shape::Trusted(shape));
  ForEachIndex(z.shape, [&](absl::Span<const int64_t> at) {
    int64_t i = 0, j = 0;
    for (int d = 0; d < rank; ++d) {
      const int64_t n = size(in[1], d), place = at[static_cast<size_t>(d)];
      i = i * size(in[0], d) + place / n;
      j = j * n + place % n;
    }
    z.at(at) = in[0][i] * in[1][j];
  });
  return std::vector<RefTensor>{z};
}

FIRN_REGISTER_COMPOSITE(kron) {
  s.Declare({{.name = "x", .max_rank = kMaxRank / 2},
             {.name = "y", .same_dtype_as = "x", .max_rank = kMaxRank / 2}},
            {{.name = "z", .same_dtype_as = "x"}});
  s.Function<Kron>();
  s.Reference(KronOf);
  s.Add("matrices", {Normal({2, 3}), Normal({3, 2}, 2)});
  s.Add("a vector and a matrix", {Normal({3}), Normal({2, 2}, 2)});
  s.Add("channels", {Normal({2, 8, 1}), Normal({1, 2, 3}, 2)});
  s.Add("scalars", {Normal({}), Normal({}, 2)});
  s.Add("nothing", {Normal({0, 2}), Normal({2, 2}, 2)});
  s.Add("integers", {Integers({2}, 0, 4), Integers({3}, 0, 4)});
  s.Add("bool", {Booleans({2}), Booleans({3})});
  s.AddLarge("4M", {Normal({64, 64}), Normal({32, 32}, 2)}, {}, 4.2e6, 16.8e6);
  s.AddError("rank", {Normal({1, 1, 1, 1, 2}), Normal({2})}, {}, "may have at most 4 dimensions");
}

std::vector<RefTensor> CrossOf(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Shape shape = *BroadcastShapes(in[0].shape, in[1].shape);
  const int64_t dim = attrs.get<DimAttrs>().dim;
  const auto d = static_cast<size_t>(dim < 0 ? dim + shape.rank() : dim);
  RefTensor z(shape);
  ForEachIndex(shape, [&](absl::Span<const int64_t> at) {
    const auto element = [&](const RefTensor& t, int64_t by) {
      std::vector<int64_t> index(at.begin(), at.end());
      index[d] = (index[d] + by) % 3;
      for (int i = 0; i < t.shape.rank(); ++i) {
        if (t.shape[i] == 1) index[static_cast<size_t>(i)] = 0;
      }
      return t.at(index);
    };
    z.at(at) = element(in[0], 1) * element(in[1], 2) - element(in[0], 2) * element(in[1], 1);
  });
  return std::vector<RefTensor>{z};
}

FIRN_REGISTER_COMPOSITE(cross) {
  s.Declare({{.name = "x", .dtypes = kNumeric, .min_rank = 1}, {.name = "y", .same_dtype_as = "x"}},
            {{.name = "z", .same_dtype_as = "x"}});
  s.Function([](In in, const DimAttrs& a) { return Cross(in[0], in[1], a.dim); });
  s.Reference(CrossOf);
  s.Add("vectors", {Normal({3}), Normal({3}, 2)}, DimAttrs{});
  s.Add("columns", {Normal({3, 4}), Normal({3, 4}, 2)}, DimAttrs{0});
  s.Add("broadcast", {Normal({2, 1, 3}), Normal({1, 4, 3}, 2)}, DimAttrs{});
  s.Add("integers", {Indices({1, 2, 3}), Indices({0, 0, 1})}, DimAttrs{}).check_values = false;
  s.AddLarge("1M", {Normal({1 << 20, 3}), Normal({1 << 20, 3}, 2)}, DimAttrs{}, 9.4e6, 37.7e6);
  s.AddError("size", {Normal({2, 4}), Normal({2, 4})}, DimAttrs{}, "and size 3 in dim -1");
}

FIRN_REGISTER_SAMPLES(kron_matrices) {
  s.Internal("kron of floating matrices");
  s.Reference(KronOf);
  s.Add("matrices", {Normal({2, 3}), Normal({3, 2}, 2)});
  s.Add("wide", {Normal({2, 3}), Normal({1, 600}, 2)});
  s.Add("many products", {Normal({1, 300}), Normal({2, 3}, 2)});
  s.Add("nothing", {Normal({0, 2}), Normal({2, 2}, 2)});
}

FIRN_REGISTER_SAMPLES(cross_vectors) {
  s.Internal("cross of floating tensors of one shape");
  s.Reference(CrossOf);
  s.Add("rows", {Normal({150, 3}), Normal({150, 3}, 2)}, DimAttrs{});
  s.Add("columns", {Normal({2, 3, 150}), Normal({2, 3, 150}, 2)}, DimAttrs{1});
  s.Add("vectors", {Normal({3}), Normal({3}, 2)}, DimAttrs{0});
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3}, 2)}, DimAttrs{});
  s.AddError("size", {Normal({2, 4}), Normal({2, 4})}, DimAttrs{}, "of size 3 in dim 1");
}

}  // namespace
}  // namespace firn::testing
