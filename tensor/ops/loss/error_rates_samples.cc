#include "firn/tensor/ops/loss/error_rates.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct TopNAttrs {
  int64_t dim = -1, n = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("n", n);
  }
};

// Along dimension 1 of [n, classes, inner], or the only one.
std::vector<RefTensor> TopNReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const TopNAttrs& a = attrs.get<TopNAttrs>();
  const Shape& shape = in[0].shape;
  const int dim = static_cast<int>(a.dim < 0 ? a.dim + shape.rank() : a.dim);
  int64_t inner = 1;
  for (int d = dim + 1; d < shape.rank(); ++d) inner *= shape[d];
  const int64_t classes = shape[dim];
  RefTensor wrong(in[1].shape);
  for (int64_t i = 0; i < wrong.size(); ++i) {
    const auto score = [&](int64_t c) {
      return in[0][(i / inner * classes + c) * inner + i % inner];
    };
    const auto t = static_cast<int64_t>(in[1][i]);
    int64_t ahead = 0;
    for (int64_t c = 0; c < classes; ++c) ahead += c != t && !(score(c) < score(t));
    wrong[i] = ahead >= a.n ? 1 : 0;
  }
  return {wrong};
}

FIRN_REGISTER_COMPOSITE(top_n_error) {
  s.Declare(
      {{.name = "x", .dtypes = kFloating, .min_rank = 1}, {.name = "target", .dtypes = kIndex}},
      {{.name = "y", .same_dtype_as = "x", .constant = true}});
  s.Function([](In in, const TopNAttrs& a) { return TopNError(in[0], in[1], a.dim, a.n); });
  s.Reference(TopNReference);
  s.Add("1", {Distinct({5, 4}, 0.1), Integers({5}, 0, 4)}, TopNAttrs{});
  s.Add("2 of a middle dimension", {Distinct({2, 4, 3}, 0.1), Integers({2, 3}, 0, 4)},
        TopNAttrs{1, 2});
  s.Add("one sample", {Distinct({4}, 0.1), Indices({2}, {})}, TopNAttrs{});
  s.Add("ties", {Values({1, 1, 0, 2, 2, 2}, {2, 3}), Indices({0, 1})}, TopNAttrs{});
  s.Add("two ties", {Values({1, 1, 0, 2, 2, 2}, {2, 3}), Indices({0, 1})}, TopNAttrs{-1, 2});
  s.Add("no sample", {Normal({0, 3}), Indices({})}, TopNAttrs{});
  s.AddLarge("4096x1000", {Uniform({4096, 1000}, -3, 3), Integers({4096}, 0, 1000)}, TopNAttrs{},
             4.1e6, 16.4e6);
  s.AddError("n", {Normal({2, 3}), Indices({0, 1})}, TopNAttrs{-1, 0},
             "n must be at least 1, got 0");
  s.AddError("target", {Normal({2, 3}), Indices({0, 1, 2})}, TopNAttrs{},
             "target [3] does not fit x [2, 3] (want [2])");
  s.AddError("index", {Normal({2, 3}), Indices({0, 3})}, TopNAttrs{},
             "top_n_error: target 3 at index 1 is outside [-3, 3)");
  s.AddError("floating target", {Normal({2, 3}), Normal({2})}, TopNAttrs{},
             "top_n_error: target must be class indices, i32 or i64, got f64 [2] on cpu");
  s.WithoutVectors("PyTorch does not have it");
}

struct ClassesAttrs {
  int64_t dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
  }
};

FIRN_REGISTER_COMPOSITE(confusion_matrix) {
  s.Declare(
      {{.name = "x", .dtypes = kFloating, .min_rank = 1}, {.name = "target", .dtypes = kIndex}},
      {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const ClassesAttrs& a) { return ConfusionMatrix(in[0], in[1], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t dim = attrs.get<ClassesAttrs>().dim;
    const Shape& shape = in[0].shape;
    const size_t along = static_cast<size_t>(dim < 0 ? dim + shape.rank() : dim);
    const int64_t classes = shape[static_cast<int>(along)];
    RefTensor counts(Shape({classes, classes}));
    ForEachIndex(in[1].shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> of(at.begin(), at.end());
      of.insert(of.begin() + static_cast<std::ptrdiff_t>(along), 0);
      int64_t best = 0;
      const auto score = [&](int64_t c) {
        of[along] = c;
        return in[0].at(of);
      };
      for (int64_t c = 1; c < classes; ++c) best = score(c) > score(best) ? c : best;
      const auto label = static_cast<int64_t>(in[1].at(at));
      counts.at({label < 0 ? label + classes : label, best}) += 1;
    });
    return std::vector<RefTensor>{counts};
  });
  s.Add("a batch", {Distinct({7, 4}, 0.1), Integers({7}, 0, 4)}, ClassesAttrs{});
  s.Add("images", {Distinct({2, 4, 3, 2}, 0.1), Integers({2, 3, 2}, 0, 4)}, ClassesAttrs{1});
  s.Add("one sample", {Distinct({4}, 0.1), Indices({2}, {})}, ClassesAttrs{});
  s.Add("ties, and a class from the end", {Values({1, 1, 0, 0, 2, 2}, {2, 3}), Indices({0, -1})},
        ClassesAttrs{});
  s.Add("no sample", {Normal({0, 3}), Indices({})}, ClassesAttrs{});
  s.AddLarge("4096x1000", {Uniform({4096, 1000}, -3, 3), Integers({4096}, 0, 1000)}, ClassesAttrs{},
             4.1e6, 24.4e6);
  s.AddError("target", {Normal({2, 3}), Indices({0, 1, 2})}, ClassesAttrs{},
             "confusion_matrix: target [3] does not fit x [2, 3] (want [2])");
  s.AddError("index", {Normal({2, 3}), Indices({0, 3})}, ClassesAttrs{},
             "confusion_matrix: target 3 at index 1 is outside [-3, 3)");
  s.WithoutVectors("PyTorch does not have it");
}

FIRN_REGISTER_COMPOSITE(binary_error) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "target"}},
            {{.name = "y", .same_dtype_as = "x", .constant = true}});
  s.Function<BinaryError>();
  s.Reference([](double x, double t) { return (x >= 0.5) != (t >= 0.5) ? 1.0 : 0.0; });
  s.Add("a matrix", {Uniform({3, 4}, 0, 1), Uniform({3, 4}, 0, 1, 2)});
  s.Add("truths", {Uniform({3, 4}, 0, 1), Booleans({3, 4})});
  s.Add("integers", {Uniform({3, 4}, 0, 1), Integers({4}, 0, 2)});
  s.Add("at the border", {Values({0.5, 0.25, 0.5}), Values({0.5, 0.5, 0})});
  s.Add("a scalar", {Uniform({}, 0, 1), Uniform({}, 0, 1, 2)});
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3})});
  s.AddLarge("4M", {Uniform({2048, 2048}, 0, 1), Uniform({2048, 2048}, 0, 1, 2)}, {}, 4.2e6,
             50.3e6);
  s.AddError("integers", {Integers({3}, 0, 2), Integers({3}, 0, 2)}, {}, "x must be f32");
  s.AddError("shapes", {Normal({2, 3}), Normal({2})}, {},
             "binary_error: target [2] does not broadcast with x [2, 3]");
  s.WithoutVectors("PyTorch does not have it");
}

}  // namespace
}  // namespace firn::testing
