#include <cmath>
#include <string>

#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(add) {
  s.Function([](In in, const AddAttrs& a) { return Add(in[0], in[1], a.alpha); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    Samples broadcast;
    broadcast.Reference([](double x, double y) { return x + y; });
    std::vector<RefTensor> scaled(in.begin(), in.end());
    for (double& v : scaled[1].values) v *= attrs.get<AddAttrs>().alpha;
    return broadcast.reference(scaled, attrs);
  });
  s.Add("vectors", {Normal({7}), Normal({7}, 2)}, AddAttrs{});
  s.Add("a scalar", {Normal({3, 5}), Normal({}, 2)}, AddAttrs{});
  s.Add("rows and columns", {Normal({4, 1, 3}), Normal({2, 1}, 2)}, AddAttrs{});
  s.Add("alpha", {Normal({2, 3}), Normal({2, 3}, 2)}, AddAttrs{-0.5});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)}, AddAttrs{2});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)}, AddAttrs{});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2)}, AddAttrs{});
  s.Add("empty", {Normal({0, 3}), Normal({3}, 2)}, AddAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, AddAttrs{}, 4.2e6, 50.3e6);
  s.AddError("shapes", {Normal({3}), Normal({4})}, AddAttrs{},
             "shapes [3] and [4] do not broadcast");
  s.AddError("undefined", {Normal({3}), Tensor()}, AddAttrs{}, "y is an undefined tensor");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, AddAttrs{},
             "x is f64 but y is i64: convert one with To(...)");
}

FIRN_REGISTER_SAMPLES(add_n) {
  s.Function([](In in) { return AddN(in.all()); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    Samples pair;
    pair.Reference([](double x, double y) { return x + y; });
    std::vector<RefTensor> sum = {in[0]};
    for (const RefTensor& t : in.subspan(1)) {
      const RefTensor both[] = {sum[0], t};
      sum = pair.reference(both, attrs);
    }
    return sum;
  });
  for (uint64_t count : {1, 2, 3, 4, 5, 7, 8, 11}) {  // passes take four, three, three, ...
    std::vector<Tensor> tensors;
    for (uint64_t i = 0; i < count; ++i) tensors.push_back(Uniform({3, 5}, 0.25, 2.25, i));
    s.Add(std::to_string(count), std::move(tensors));
  }
  s.Add("rows and columns", {Normal({4, 1, 3}), Normal({2, 1}, 2), Normal({}, 3), Normal({1}, 4),
                             Normal({2, 3}, 5), Normal({1, 2, 1}, 6)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({2, 8, 3, 3}, 3)});
  s.Add("nothing", {Normal({0, 3}), Normal({3}, 2), Normal({}, 3)});
  s.Add("integers", {Integers({9}, -9, 9), Integers({9}, -9, 9, 2), Integers({}, -9, 9, 3)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2), Booleans({9}, 3)});
  s.AddLarge("three of 4M",
             {Normal({2048, 2048}), Normal({2048, 2048}, 2), Normal({2048, 2048}, 3)}, {}, 8.4e6,
             67.1e6);
  s.AddError("shapes", {Normal({3}), Normal({3}), Normal({4})}, {},
             "shapes [3] and [4] do not broadcast");
  s.AddError("undefined", {Normal({3}), Tensor()}, {}, "undefined tensor");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, {}, "i64");
  s.AddError("no tensors", {}, {}, "takes at least 1 tensor, got 0");
}

FIRN_REGISTER_SAMPLES(sub) {
  s.Function([](In in, const SubAttrs& a) { return Sub(in[0], in[1], a.alpha); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] - attrs.get<SubAttrs>().alpha * in[1];
  });
  AddBinary(s, Normal, Normal, SubAttrs{});
  s.Add("alpha", {Normal({2, 3}), Normal({2, 3}, 2)}, SubAttrs{-0.5});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)}, SubAttrs{});
  s.Add("integers and alpha", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)}, SubAttrs{3});
  s.AddError("half of integers", {Integers({3}, 0, 9), Integers({3}, 0, 9)}, SubAttrs{0.5},
             "alpha must be whole for integers, got 0.5");
  s.AddError("bool", {Booleans({3}), Booleans({3})}, SubAttrs{},
             "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(mul) {
  s.Function<Mul>();
  s.Reference([](double x, double y) { return x * y; });
  s.Add("vectors", {Normal({7}), Normal({7}, 2)});
  s.Add("a scalar", {Normal({3, 5}), Normal({}, 2)});
  s.Add("rows and columns", {Normal({4, 1, 3}), Normal({2, 1}, 2)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2)});
  s.Add("empty", {Normal({0, 3}), Normal({3}, 2)});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, {}, 4.2e6, 50.3e6);
  s.AddError("shapes", {Normal({3}), Normal({4})}, {}, "shapes [3] and [4] do not broadcast");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, {}, "x is f64 but y is i64");
}

FIRN_REGISTER_SAMPLES(div) {
  s.Function([](In in, const DivAttrs& a) { return Div(in[0], in[1], a.rounding); });
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

void AddTernary(Samples& s) {
  s.Add("vectors", {Normal({7}, 1), Grid({7}, 2), Positive({7}, 3)}, AddcmulAttrs{});
  s.Add("value, broadcast", {Normal({3, 1}, 1), Grid({4}, 2), Positive({2, 1, 1}, 3)},
        AddcmulAttrs{-0.5});
  s.Add("channels", {Normal({2, 8, 3}, 1), Grid({2, 8, 3}, 2), Positive({2, 8, 3}, 3)},
        AddcmulAttrs{2});
  s.Add("nothing", {Normal({0, 3}), Normal({3}), Normal({3})}, AddcmulAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}, 1), Normal({2048, 2048}, 2), Positive({2048, 2048}, 3)},
             AddcmulAttrs{2}, 3 * 4.2e6, 67.1e6);
  s.AddLarge("factors and terms of channels",
             {Normal({64, 1, 1}, 1), Normal({32, 64, 56, 56}, 2), Positive({64, 1, 1}, 3)},
             AddcmulAttrs{1}, 2 * 6.4e6, 51.4e6);
  s.AddLarge("terms of channels",
             {Normal({64, 1, 1}, 1), Normal({32, 64, 56, 56}, 2), Positive({32, 64, 56, 56}, 3)},
             AddcmulAttrs{1}, 2 * 6.4e6, 77.1e6);
  s.AddError("shapes", {Normal({3}), Normal({3}), Normal({4})}, AddcmulAttrs{}, "do not broadcast");
}

FIRN_REGISTER_SAMPLES(addcmul) {
  s.Function([](In in, const AddcmulAttrs& a) { return Addcmul(in[0], in[1], in[2], a.value); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] + attrs.get<AddcmulAttrs>().value * in[1] * in[2];
  });
  AddTernary(s);
}

FIRN_REGISTER_SAMPLES(addcdiv) {
  s.Function([](In in, const AddcmulAttrs& a) { return Addcdiv(in[0], in[1], in[2], a.value); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] + attrs.get<AddcmulAttrs>().value * in[1] / in[2];
  });
  AddTernary(s);
}

}  // namespace
}  // namespace firn::testing
