#include <cmath>
#include <vector>

#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"

namespace firn::testing {
namespace {

template <bool kLargest>
void AddExtremes(Samples& s) {
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return elements[static_cast<size_t>(FirstExtreme<kLargest>(elements))];
  }));
  AddReductionSamples(s);
  s.Add("integers", {Integers({4, 30}, -100, 100)}, ReduceAttrs{{1}});
  s.Add("bool", {Booleans({4, 3})}, ReduceAttrs{{0}});
  s.Add("ties", {Values({3, 1, 3, 2, 1, 1, 1, 1, 0, 0, 0, 4}, {3, 4})}, ReduceAttrs{{1}})
      .check_gradient = false;
  s.Add("NaN and infinities", {Values({NAN, 1, INFINITY, -INFINITY, 2, -INFINITY}, {3, 2})},
        ReduceAttrs{{1}, true})
      .check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("nothing", {Normal({3, 0})}, ReduceAttrs{{1}},
             "x [3, 0] has no elements to take the extreme of");
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(amax) {
  s.Function([](In in, const ReduceAttrs& a) { return Amax(in[0], a.dims, a.keepdim); });
  AddExtremes<true>(s);
}

FIRN_REGISTER_SAMPLES(amin) {
  s.Function([](In in, const ReduceAttrs& a) { return Amin(in[0], a.dims, a.keepdim); });
  AddExtremes<false>(s);
}

struct AlongAttrs {
  int64_t dim = 0;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("keepdim", keepdim);
  }
};

template <bool kLargest>
void AddAlong(Samples& s) {
  s.Declare({{.name = "x"}}, {{.name = "values", .same_dtype_as = "x"},
                              {.name = "indices", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const AlongAttrs& a = attrs.get<AlongAttrs>();
    const ReduceAttrs over{{a.dim}, a.keepdim};
    const auto value = [](const std::vector<double>& elements) {
      return elements[static_cast<size_t>(FirstExtreme<kLargest>(elements))];
    };
    return std::vector<RefTensor>{ReduceReference(in[0], over, value),
                                  ReduceReference(in[0], over, FirstExtreme<kLargest>)};
  });
  s.Add("rows", {Distinct({3, 5})}, AlongAttrs{1});
  s.Add("columns, kept", {Distinct({4, 3})}, AlongAttrs{0, true});
  s.Add("channels", {Distinct({2, 8, 3, 2})}, AlongAttrs{-3});
  s.Add("a scalar", {Normal({})}, AlongAttrs{});
  s.Add("no lines", {Normal({0, 3})}, AlongAttrs{1});
  s.Add("ties and NaN", {Values({3, 1, 3, 1, NAN, 2, 1, NAN}, {2, 4})}, AlongAttrs{1})
      .check_gradient = false;
  s.Add("integers", {Integers({4, 30}, -5, 5)}, AlongAttrs{1});
  s.Add("bool", {Booleans({3, 4})}, AlongAttrs{0});
  s.AddError("dim", {Normal({3, 5})}, AlongAttrs{2}, "dim 2 is outside [3, 5]");
  s.AddError("nothing", {Normal({3, 0})}, AlongAttrs{1}, "has no elements");
}

FIRN_REGISTER_COMPOSITE(max) {
  s.Function([](In in, const AlongAttrs& a) { return Max(in[0], a.dim, a.keepdim); });
  AddAlong<true>(s);
}

FIRN_REGISTER_COMPOSITE(min) {
  s.Function([](In in, const AlongAttrs& a) { return Min(in[0], a.dim, a.keepdim); });
  AddAlong<false>(s);
}

}  // namespace
}  // namespace firn::testing
