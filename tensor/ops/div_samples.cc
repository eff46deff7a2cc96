#include <cmath>
#include <string>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/div.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(div) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const double q = in[0] / in[1];
    switch (attrs.get<DivAttrs>().rounding) {
      case DivRounding::kTrunc:
        return std::trunc(q);
      case DivRounding::kFloor:
        return std::floor(q);
      default:
        return q;
    }
  });
  AddBinary(s, Normal, Positive, DivAttrs{});
  const Tensor x = Values({7, -7, 7, -7, 6, 0.0, 5.5, -1}),
               y = Values({2, 2, -2, -2, 3, 4, 1.5, 8});
  const Tensor i = Indices({7, -7, 7, -7, 6, -6, 0, -128}),
               j = Indices({2, 2, -2, -2, 3, -3, 4, 8});
  for (DivRounding r : {DivRounding::kTrunc, DivRounding::kFloor}) {
    const std::string name = r == DivRounding::kTrunc ? "trunc" : "floor";
    s.Add(name, {x, y}, DivAttrs{r}).check_gradient = false;  // some quotients are whole
    s.Add(name + " between", {Values({7, -7, 5.5}), Values({2, 3, 1.6})}, DivAttrs{r});
    s.Add(name + " integers", {i, j}, DivAttrs{r});
    s.Add(name + " columns", {Indices({9, -9}, {2, 1}), Indices({2, -4, 5})}, DivAttrs{r});
    s.AddError(name + " by 0", {Integers({3}, 1, 9), Indices({1, 0, 2})}, DivAttrs{r},
               "has a 0: integers cannot be divided by 0");
  }
  s.Add("edges", {Values({1, -1, 0.0, INFINITY, NAN}), Values({0.0, 0.0, 0.0, 2, 1})}, DivAttrs{})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 1, 9), Integers({3}, 1, 9)}, DivAttrs{},
             "integers are divided with rounding trunc or floor");
}

}  // namespace firn::testing
