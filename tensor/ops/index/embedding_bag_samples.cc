#include <algorithm>
#include <cmath>
#include <string>

#include "firn/tensor/ops/index/embedding_bag.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct BagAttrs {
  int64_t mode = 1;      // an enumerator
  int64_t padding = -9;  // -9: none
  template <class V>
  void Visit(V& v) {
    v.Field("mode", mode);
    v.Field("padding", padding);
  }
};

Tensor Call(In in, const BagAttrs& a) {
  EmbeddingBagOptions o{.offsets = in[2], .per_sample_weights = in[3]};
  o.mode = static_cast<EmbeddingBagMode>(std::clamp<int64_t>(a.mode, 0, 9));
  if (a.padding != -9) o.padding_idx = a.padding;
  return EmbeddingBag(in[0], in[1], o);
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const BagAttrs& a = attrs.get<BagAttrs>();
  const RefTensor &indices = in[0], &weight = in[1];
  const bool flat = in.size() > 2 && in[2].defined();
  const int64_t bags = flat ? in[2].size() : indices.shape[0], size = weight.shape[1];
  RefTensor y(Shape({bags, size}));
  std::vector<double> counts(static_cast<size_t>(bags));
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t bag = flat ? -1 : i / indices.shape[1];
    for (int64_t b = 0; flat && b < bags; ++b) bag += in[2][b] <= static_cast<double>(i);
    if (bag < 0) continue;
    const auto row = static_cast<int64_t>(indices[i]);
    if (row == (a.padding < 0 ? a.padding + weight.shape[0] : a.padding)) continue;
    const double factor = in.size() > 3 && in[3].defined() ? in[3][i] : 1;
    const bool first = counts[static_cast<size_t>(bag)]++ == 0;
    for (int64_t k = 0; k < size; ++k) {
      const double v = weight[row * size + k] * factor;
      double& to = y[bag * size + k];
      to = a.mode == 2 ? (first ? v : std::max(to, v)) : to + v;
    }
  }
  for (int64_t i = 0; i < y.size(); ++i) {
    if (a.mode == 1) y[i] /= std::max(counts[static_cast<size_t>(i / size)], 1.0);
  }
  return {y};
}

FIRN_REGISTER_COMPOSITE(embedding_bag) {
  s.Declare({{.name = "indices", .dtypes = kIndex, .min_rank = 1, .max_rank = 2},
             {.name = "weight", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
             {.name = "offsets", .dtypes = kIndex, .optional = true},
             {.name = "per_sample_weights", .same_dtype_as = "weight", .optional = true}},
            {{.name = "y", .same_dtype_as = "weight"}});
  s.Function(Call);
  s.Reference(Reference);
  const Tensor table = Distinct({6, 3}, 0.3), lists = Indices({0, 5, 2, 2, 4, 1}, {2, 3});
  const Tensor flat = Indices({0, 5, 2, 2, 4, 1}), offsets = Indices({0, 2, 2, 5});
  for (int64_t mode : {0, 1, 2}) {
    const std::string name = WordFor(static_cast<EmbeddingBagMode>(mode));
    s.Add(name, {lists, table, Tensor(), Tensor()}, BagAttrs{mode});
    s.Add(name + ", padding", {lists, table, Tensor(), Tensor()}, BagAttrs{mode, 2})
        .check_gradient = false;  // the row of padding gets none
    s.Add(name + ", offsets", {flat, table, offsets, Tensor()}, BagAttrs{mode});
    s.Add(name + ", offsets, padding", {flat, table, offsets, Tensor()}, BagAttrs{mode, -1})
        .check_gradient = false;
    s.Add(name + ", empty bags", {Indices({}, {2, 0}), table, Tensor(), Tensor()}, BagAttrs{mode});
  }
  s.Add("weights", {lists, table, Tensor(), Uniform({2, 3}, 0.5, 2)}, BagAttrs{0});
  s.Add("weights, offsets", {flat, table, offsets, Uniform({6}, 0.5, 2)}, BagAttrs{0});
  s.Add("a late start", {flat, table, Indices({1, 2}), Tensor()}, BagAttrs{0});
  s.AddLarge("4096 bags of 20",
             {Integers({4096, 20}, 0, 10000), Normal({10000, 64}), Tensor(), Tensor()}, BagAttrs{},
             5.2e6, 22.7e6);
  s.AddError("index", {Indices({0, 6}, {1, 2}), table, Tensor(), Tensor()}, BagAttrs{},
             "6 at index 1 is outside [0, 6)");
  s.AddError("no offsets", {flat, table, Tensor(), Tensor()}, BagAttrs{},
             "offsets are for 1-D indices and these alone");
  s.AddError("weights", {lists, table, Tensor(), Uniform({2, 3}, 0.5, 2)}, BagAttrs{1},
             "per_sample_weights are for the mode sum");
}

FIRN_REGISTER_SAMPLES(embedding_bag_rows) {
  s.Internal("embedding_bag of bags that are equally large");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const EmbeddingBagAttrs& a = attrs.get<EmbeddingBagAttrs>();
    return Reference(in, BagAttrs{a.mean ? 1 : 0, a.padding_idx == kNoIndex ? -9 : a.padding_idx});
  });
  const Tensor lists = Indices({0, 5, 2, 2, 4, 1}, {2, 3});
  for (const bool mean : {false, true}) {
    const std::string name = mean ? "mean" : "sum";
    s.Add(name, {lists, Distinct({6, 3}, 0.3)}, EmbeddingBagAttrs{mean});
    s.Add(name + " of 70", {lists, Normal({6, 70})}, EmbeddingBagAttrs{mean});
    s.Add(name + ", padding", {lists, Normal({6, 64})}, EmbeddingBagAttrs{mean, 2}).check_gradient =
        false;  // the row of padding gets none
    s.Add(name + ", empty", {Indices({}, {2, 0}), Normal({6, 3})}, EmbeddingBagAttrs{mean});
  }
  s.AddError("padding", {lists, Normal({6, 3})}, EmbeddingBagAttrs{true, 6},
             "padding_idx 6 is outside [0, 6)");
}

FIRN_REGISTER_GOLDEN(embedding_bag) {
  EmbeddingBagOptions o{.offsets = args["offsets"],
                        .per_sample_weights = args["per_sample_weights"]};
  o.mode = static_cast<EmbeddingBagMode>(args.Int("kind", 1));
  if (args.Has("padding_idx")) o.padding_idx = args.Int("padding_idx", 0);
  return EmbeddingBag(args["indices"], args["weight"], o);
}

}  // namespace
}  // namespace firn::testing
