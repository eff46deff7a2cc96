#include <algorithm>
#include <string>

#include "firn/tensor/ops/index/nd.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct BatchAttrs {
  int64_t batch_dims = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("batch_dims", batch_dims);
  }
};

// The start in x of the elements that tuple number i names, and their number.
int64_t StartOf(const RefTensor& x, const RefTensor& indices, int64_t i, int batch, int64_t* rest) {
  const int k = static_cast<int>(indices.shape.dim(-1));
  int64_t at = 0, each = indices.size() / k;  // tuples in what is left of the batch
  int64_t number = i;
  for (int d = 0; d < batch; ++d) {
    each /= indices.shape[d];
    at = at * x.shape[d] + number / each;
    number %= each;
  }
  for (int j = 0; j < k; ++j) {
    const int64_t n = x.shape[batch + j], index = static_cast<int64_t>(indices[i * k + j]);
    at = at * n + (index < 0 ? index + n : index);
  }
  *rest = 1;
  for (int d = batch + k; d < x.shape.rank(); ++d) *rest *= x.shape[d];
  return at * *rest;
}

FIRN_REGISTER_COMPOSITE(gather_nd) {
  s.Declare({{.name = "x", .min_rank = 1}, {.name = "indices", .dtypes = kIndex, .min_rank = 1}});
  s.Function([](In in, const BatchAttrs& a) { return GatherNd(in[0], in[1], a.batch_dims); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int batch = static_cast<int>(attrs.get<BatchAttrs>().batch_dims);
    const int k = static_cast<int>(in[1].shape.dim(-1));
    Dims shape;
    for (int d = 0; d + 1 < in[1].shape.rank(); ++d) shape.push_back(in[1].shape[d]);
    for (int d = batch + k; d < in[0].shape.rank(); ++d) shape.push_back(in[0].shape[d]);
    RefTensor y(Shape::Trusted(shape));
    for (int64_t i = 0, to = 0; i < in[1].size() / k; ++i) {
      int64_t rest;
      const int64_t from = StartOf(in[0], in[1], i, batch, &rest);
      for (int64_t j = 0; j < rest; ++j) y[to++] = in[0][from + j];
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("elements", {Normal({3, 4}), Indices({0, 1, 2, -1, 0, 1}, {3, 2})}, BatchAttrs{});
  s.Add("rows", {Normal({3, 8, 2}), Indices({2, 0, -3}, {3, 1})}, BatchAttrs{});
  s.Add("one", {Normal({3, 4}), Indices({1, 2})}, BatchAttrs{});
  s.Add("batches", {Normal({2, 3, 4}), Indices({1, 0, 2, 2}, {2, 2, 1})}, BatchAttrs{1});
  s.Add("two batch dimensions", {Normal({2, 2, 3}), Indices({1, 0, 2, 2}, {2, 2, 1})},
        BatchAttrs{2});
  s.Add("integers", {Integers({3, 2}, 0, 9), Indices({1, 0}, {1, 2})}, BatchAttrs{});
  s.Add("bool", {Booleans({3, 2}), Indices({1, 0}, {1, 2})}, BatchAttrs{});
  s.AddLarge("1M rows", {Normal({1024, 1024}), Integers({1024, 1024, 2}, 0, 1024)}, BatchAttrs{}, 0,
             25e6);
  s.AddError("index", {Normal({3, 4}), Indices({0, 4}, {1, 2})}, BatchAttrs{}, "is outside");
  s.AddError("length", {Normal({3, 4}), Indices({0, 1, 2}, {1, 3})}, BatchAttrs{},
             "indices [1, 3] do not fit x [3, 4] with batch_dims 0");
  s.WithoutVectors("PyTorch does not have it");
}

struct ScatterNdAttrs {
  int64_t reduce = -1;  // -1: none, else an enumerator
  template <class V>
  void Visit(V& v) {
    v.Field("reduce", reduce);
  }
};

Tensor CallScatterNd(In in, const ScatterNdAttrs& a) {
  if (a.reduce < 0) return ScatterNd(in[0], in[1], in[2]);
  return ScatterNd(in[0], in[1], in[2],
                   static_cast<ScatterReduction>(std::min<int64_t>(a.reduce, 9)));
}

FIRN_REGISTER_COMPOSITE(scatter_nd) {
  s.Declare({{.name = "x", .dtypes = kNumeric, .min_rank = 1},
             {.name = "indices", .dtypes = kIndex, .min_rank = 1},
             {.name = "updates", .same_dtype_as = "x"}});
  s.Function(CallScatterNd);
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t reduce = attrs.get<ScatterNdAttrs>().reduce;
    RefTensor y = in[0];
    for (int64_t i = 0, at = 0; i < in[1].size() / in[1].shape.dim(-1); ++i) {
      int64_t rest;
      const int64_t to = StartOf(y, in[1], i, 0, &rest);
      for (int64_t j = 0; j < rest; ++j) {
        const double v = in[2][at++];
        double& there = y[to + j];
        there = reduce < 0    ? v
                : reduce == 0 ? there + v
                : reduce == 1 ? there * v
                : reduce == 3 ? std::max(there, v)
                              : std::min(there, v);
      }
    }
    return std::vector<RefTensor>{y};
  });
  for (int64_t reduce : {-1, 0, 1, 3, 4}) {
    const std::string name = "reduce " + std::to_string(reduce);
    s.Add(name + ", elements",
          {Distinct({3, 4}, 0.3), Indices({0, 1, 2, -1}, {2, 2}), Distinct({2}, 0.7, 2)},
          ScatterNdAttrs{reduce});
    s.Add(name + ", rows",
          {Distinct({3, 8, 2}, 0.3), Indices({2, -3}, {2, 1}), Distinct({2, 8, 2}, 0.7, 2)},
          ScatterNdAttrs{reduce});
  }
  s.Add("one place twice, added", {Normal({3}), Indices({1, 1}, {2, 1}), Normal({2}, 2)},
        ScatterNdAttrs{0});
  s.Add("integers", {Integers({3}, 0, 9), Indices({1, 1}, {2, 1}), Integers({2}, 0, 9)},
        ScatterNdAttrs{3});
  s.AddLarge("1M elements, added",
             {Normal({1024, 1024}), Integers({1024, 1024, 2}, 0, 1024), Normal({1024, 1024}, 2)},
             ScatterNdAttrs{0}, 1.05e6, 29.4e6);
  s.AddError("updates", {Normal({3, 2}), Indices({1}, {1, 1}), Normal({2})}, ScatterNdAttrs{},
             "updates must be f64 [1, 2], got");
  s.AddError("bool", {Booleans({3}), Indices({1}, {1, 1}), Booleans({1})}, ScatterNdAttrs{3},
             "scatter_nd: x must be of numbers, got bool");
  s.WithoutVectors("PyTorch does not have it");
}

}  // namespace
}  // namespace firn::testing
