#include <algorithm>
#include <cmath>
#include <string>

#include "firn/tensor/ops/scan/search.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

bool Below(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

FIRN_REGISTER_SAMPLES(searchsorted) {
  s.Function([](In in, const SearchsortedAttrs& a) { return Searchsorted(in[0], in[1], a.right); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const bool right = attrs.get<SearchsortedAttrs>().right;
    const int64_t n = in[0].shape.dim(-1);
    const int64_t each = in[0].shape.rank() == 1 ? in[1].size() : in[1].shape.dim(-1);
    RefTensor places(in[1].shape);
    for (int64_t i = 0; i < places.size(); ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const double v = in[1][i], element = in[0][i / each * n + j];
        places[i] += right ? !Below(v, element) : Below(element, v);
      }
    }
    return std::vector<RefTensor>{places};
  });
  const Tensor sorted = Values({-1, 0, 0, 0.5, 2, 2, 3});
  for (bool right : {false, true}) {
    const std::string side = right ? "right" : "left";
    s.Add(side, {sorted, Values({0, 2, -3, 4, 0.25, 3}, {2, 3})}, SearchsortedAttrs{right});
    s.Add(side + ", rows", {Values({1, 2, 3, 2, 2, 2}, {2, 3}), Values({2, 0, 2, 3}, {2, 2})},
          SearchsortedAttrs{right});
    s.Add(side + ", integers", {Indices({0, 1, 1, 4}), Indices({1, 5, 0})},
          SearchsortedAttrs{right});
    s.Add(side + ", NaN", {Values({1, 2, NAN, NAN}), Values({NAN, 3, INFINITY})},
          SearchsortedAttrs{right});
  }
  s.Add("bool", {Values({0, 1, 1}).To(DType::kBool), Booleans({3})}, SearchsortedAttrs{});
  s.Add("a scalar", {sorted, Values({2}, {})}, SearchsortedAttrs{});
  s.Add("into nothing", {Normal({0}), Normal({3})}, SearchsortedAttrs{});
  s.Add("nothing", {sorted, Normal({0, 2})}, SearchsortedAttrs{});
  s.AddLarge("1M in 4096", {Normal({4096}), Normal({1024, 1024}, 2)}, SearchsortedAttrs{}, 12e6,
             12.6e6);
  s.AddError("rows", {Normal({2, 3}), Normal({3, 3})}, SearchsortedAttrs{},
             "sorted [2, 3] and values [3, 3] must agree but for the last dimension");
}

FIRN_REGISTER_COMPOSITE(isin) {
  s.Declare({{.name = "x"}, {.name = "test", .same_dtype_as = "x"}},
            {{.name = "y", .dtypes = kBoolean, .constant = true}});
  s.Function<Isin>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y(in[0].shape);
    for (int64_t i = 0; i < y.size(); ++i) {
      y[i] = std::count(in[1].values.begin(), in[1].values.end(), in[0][i]) > 0;
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("numbers", {Values({1, 2, 3, NAN, -1}), Values({3, -1, NAN, 5}, {2, 2})});
  s.Add("integers", {Integers({3, 4}, 0, 9), Integers({4}, 0, 9, 2)});
  s.Add("bool", {Booleans({4}), Values({1}).To(DType::kBool)});
  s.Add("in nothing", {Normal({2, 3}), Normal({0})});
  s.Add("nothing", {Normal({0, 3}), Normal({2})});
  s.AddLarge("1M in 4096", {Normal({1024, 1024}), Normal({4096}, 2)}, {}, 12e6, 9e6);
}

}  // namespace
}  // namespace firn::testing
