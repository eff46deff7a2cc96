#include <cmath>

#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(where) {
  s.Function<Where>();
  ElementReference(s, [](const double* in, AttrsRef) { return in[0] != 0 ? in[1] : in[2]; });
  s.Add("vectors", {Booleans({7}), Normal({7}, 2), Normal({7}, 3)});
  s.Add("a matrix and scalars", {Booleans({3, 5}), Normal({}, 2), Normal({}, 3)});
  s.Add("a scalar condition", {Booleans({}), Normal({4}, 2), Normal({4}, 3)});
  s.Add("rows and columns", {Booleans({4, 1, 3}), Normal({2, 1}, 2), Normal({3}, 3)});
  s.Add("channels", {Booleans({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({2, 8, 3, 3}, 3)});
  s.Add("channels and a number", {Booleans({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({}, 3)});
  s.Add("nothing", {Booleans({0, 3}), Normal({3}, 2), Normal({3}, 3)});
  s.Add("integers", {Booleans({9}), Integers({9}, -9, 9), Integers({9}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2), Booleans({9}, 3)});
  s.Add("NaN not chosen", {Booleans({3}), Values({NAN, NAN, NAN}), Values({1, 2, 3})})
      .check_gradient = false;
  s.AddLarge("4M", {Booleans({2048, 2048}), Normal({2048, 2048}, 2), Normal({2048, 2048}, 3)}, {},
             4.2e6, 54.5e6);
  s.AddError("condition", {Normal({3}), Normal({3}), Normal({3})}, {}, "condition must be bool");
  s.AddError("shapes", {Booleans({2}), Normal({3}), Normal({3})}, {},
             "shapes [2] and [3] do not broadcast");
  s.AddError("dtypes", {Booleans({3}), Normal({3}), Integers({3}, 0, 9)}, {},
             "x is f64 but y is i64");
  s.AddError("undefined", {Booleans({3}), Normal({3}), Tensor()}, {}, "y is an undefined tensor");
}

FIRN_REGISTER_SAMPLES(nan_to_num) {
  s.Function([](In in, const NanToNumAttrs& a) {
    return NanToNum(in[0], {.nan = a.nan, .posinf = a.posinf, .neginf = a.neginf});
  });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const NanToNumAttrs& a = attrs.get<NanToNumAttrs>();
    return std::isnan(in[0])      ? a.nan
           : std::isfinite(in[0]) ? in[0]
           : in[0] > 0            ? a.posinf
                                  : a.neginf;
  });
  AddUnary(s, Normal, NanToNumAttrs{});
  const Tensor edges = Values({0.0, -0.0, NAN, INFINITY, -INFINITY, 6e4, -6e4});
  s.Add("numbers", {edges}, NanToNumAttrs{1.5, 1e4, -2}).check_gradient = false;
  s.Add("the same", {edges}, NanToNumAttrs{NAN, INFINITY, -INFINITY}).check_gradient = false;
  s.Add("NaN", {edges}, NanToNumAttrs{INFINITY, NAN, NAN}).check_gradient = false;
  s.Add("integers", {Integers({9}, -9, 9)}, NanToNumAttrs{1, 2, 3});
  s.AddError("bool", {Booleans({3})}, NanToNumAttrs{},
             "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(lerp) {
  s.Function<Lerp>();
  ElementReference(s, [](const double* in, AttrsRef) {
    return in[2] == 1 ? in[1] : in[0] + in[2] * (in[1] - in[0]);
  });
  s.Add("vectors", {Normal({7}), Normal({7}, 2), Normal({7}, 3)});
  s.Add("a number", {Normal({3, 5}), Normal({3, 5}, 2), Values({0.25}, {})});
  s.Add("rows and columns", {Normal({4, 1, 3}), Normal({2, 1}, 2), Normal({3}, 3)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({2, 8, 3, 3}, 3)});
  s.Add("nothing", {Normal({0, 3}), Normal({3}, 2), Normal({}, 3)});
  s.Add("the ends", {Values({1, 1, 3e4, 1e-4}), Values({3, 3, 1e-4, 3e4}), Values({0, 1, 1, 0})});
  s.Add("edges", {Values({INFINITY, 1, NAN}), Values({1, INFINITY, 1}), Values({0.25, 0.25, 0})})
      .check_gradient = false;
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2), Normal({}, 3)}, {}, 12.6e6,
             50.3e6);
  s.AddError("shapes", {Normal({2}), Normal({3}), Normal({3})}, {},
             "shapes [2] and [3] do not broadcast");
  s.AddError("dtypes", {Normal({3}), Normal({3}), Integers({3}, 0, 9)}, {},
             "start is f64 but weight is i64");
  s.AddError("undefined", {Normal({3}), Normal({3}), Tensor()}, {},
             "weight is an undefined tensor");
}

FIRN_REGISTER_COMPOSITE(masked_fill) {
  s.Declare({{.name = "x"},
             {.name = "mask", .dtypes = kBoolean},
             {.name = "value", .same_dtype_as = "x"}});
  s.Function<MaskedFill>();
  ElementReference(s, [](const double* in, AttrsRef) { return in[1] != 0 ? in[2] : in[0]; });
  s.Add("a matrix", {Normal({3, 5}), Booleans({3, 5}), Normal({}, 2)});
  s.Add("rows", {Normal({2, 3, 4}), Booleans({3, 1}), Normal({}, 2)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Booleans({2, 8, 3, 3}), Normal({}, 2)});
  s.Add("a larger mask", {Normal({3}), Booleans({2, 3}), Normal({}, 2)});
  s.Add("nothing", {Normal({0, 3}), Booleans({3}), Normal({}, 2)});
  s.Add("integers", {Integers({7}, -9, 9), Booleans({7}), Indices({5}, {})});
  s.Add("bool", {Booleans({7}), Booleans({7}, 2), Booleans({}, 3)});
  s.AddError("mask", {Normal({3}), Normal({3}), Normal({})}, {}, "mask must be bool");
  s.AddError("value", {Normal({3}), Booleans({3}), Normal({3})}, {},
             "value must be a number or a 0-d tensor, got f64 [3]");
}

FIRN_REGISTER_GOLDEN(nan_to_num) {
  NanToNumOptions options{.nan = args.Number("nan", 0)};
  if (args.Has("posinf")) options.posinf = args.Number("posinf", 0);
  if (args.Has("neginf")) options.neginf = args.Number("neginf", 0);
  return NanToNum(args["x"], options);
}

}  // namespace
}  // namespace firn::testing
