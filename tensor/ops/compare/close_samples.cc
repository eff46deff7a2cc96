#include <cmath>

#include "firn/tensor/ops/compare/close.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

struct CloseAttrs {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
  template <class V>
  void Visit(V& v) {
    v.Field("rtol", rtol);
    v.Field("atol", atol);
    v.Field("equal_nan", equal_nan);
  }
};

FIRN_REGISTER_COMPOSITE(isclose) {
  s.Declare({{.name = "x"}, {.name = "y", .same_dtype_as = "x"}},
            {{.name = "z", .dtypes = kBoolean, .constant = true}});
  s.Function([](In in, const CloseAttrs& a) {
    return Isclose(in[0], in[1], {.rtol = a.rtol, .atol = a.atol, .equal_nan = a.equal_nan});
  });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const CloseAttrs& a = attrs.get<CloseAttrs>();
    if (in[0] == in[1]) return 1.0;
    if (std::isnan(in[0]) && std::isnan(in[1])) return a.equal_nan ? 1.0 : 0.0;
    const double apart = std::abs(in[0] - in[1]);
    return std::isfinite(apart) && apart <= a.atol + a.rtol * std::abs(in[1]) ? 1.0 : 0.0;
  });
  const Tensor x = Values({1, 2, 4, -8}), y = Values({1.25, 2, 4.5, -8.5});
  s.Add("rtol", {x, y}, CloseAttrs{0.1875, 0});
  s.Add("atol", {x, y}, CloseAttrs{0, 0.375});
  s.Add("exactly", {x, y}, CloseAttrs{0, 0});
  s.Add("broadcast", {Normal({3, 1}), Normal({4}, 2)}, CloseAttrs{0, 1});
  s.Add("not finite",
        {Values({INFINITY, INFINITY, NAN, 1, -INFINITY}),
         Values({INFINITY, -INFINITY, NAN, INFINITY, 2})},
        CloseAttrs{});
  s.Add("equal NaN", {Values({NAN, NAN, 1}), Values({NAN, 1, NAN})}, CloseAttrs{0, 0, true});
  s.Add("integers", {Integers({5}, 0, 9), Integers({5}, 0, 9, 2)}, CloseAttrs{0, 2});
  s.Add("truths", {Booleans({5}), Booleans({5}, 2)}, CloseAttrs{});
  s.Add("a scalar", {Normal({}), Normal({}, 2)}, CloseAttrs{});
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3})}, CloseAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, CloseAttrs{}, 6 * 4.2e6,
             37.7e6);
  s.AddError("rtol", {x, y}, CloseAttrs{-1, 0}, "rtol must be at least 0, got -1");
  s.AddError("shapes", {Normal({3}), Normal({4})}, CloseAttrs{}, "do not broadcast");
}

}  // namespace
}  // namespace firn::testing
