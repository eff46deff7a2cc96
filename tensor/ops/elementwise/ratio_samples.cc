#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(mul_ratio) {
  s.Internal("the gradient of lengths");
  ElementReference(
      s, [](const double* in, AttrsRef) { return in[2] == 0 ? 0 : in[0] * (in[1] / in[2]); });
  const auto lengths = [](const Shape& shape) { return Uniform(shape, 0.5, 1.5, 3); };
  s.Add("vectors", {Normal({7}), Normal({7}, 2), lengths({7})});
  s.Add("rows", {Normal({4, 5}), Normal({4, 1}, 2), lengths({4, 1})});
  s.Add("columns", {Normal({4, 5}), Normal({1, 5}, 2), lengths({1, 5})});
  s.Add("outer two", {Normal({2, 3, 4}), Normal({1, 3, 1}, 2), lengths({1, 3, 1})});
  s.Add("of several shapes", {Normal({3, 1}), Normal({5}, 2), lengths({2, 1, 1})});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), lengths({2, 8, 3, 3})});
  s.Add("channels and numbers", {Normal({2, 8, 3, 3}), Normal({}, 2), lengths({})});
  s.Add("scalars", {Normal({}), Normal({}, 2), lengths({})});
  s.Add("nothing", {Normal({0, 3}), Normal({1, 3}, 2), lengths({1, 3})});
  s.Add("zeros", {Normal({3, 2}), Values({1, 0, 2}, {3, 1}), Values({0, 2, 0}, {3, 1})})
      .check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048}), Normal({2048, 1}, 2), lengths({2048, 1})}, {},
             4.2e6, 33.6e6);
  s.AddError("shapes", {Normal({2}), Normal({3}), Normal({3})}, {},
             "shapes [2] and [3] do not broadcast");
}

}  // namespace
}  // namespace firn::testing
