#include <algorithm>
#include <cmath>
#include <numeric>

#include "firn/tensor/ops/quantize/prune.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/testing/samples.h"

// Gradients, and inq_quantize over several calls: tests/tensor/quantize_state_test.cc.

namespace firn::testing {
namespace {

struct PruneAttrs {
  double rate = 0.9;
  template <class V>
  void Visit(V& v) {
    v.Field("rate", rate);
  }
};

FIRN_REGISTER_COMPOSITE(magnitude_prune) {
  s.gradient_is_derivative = false;  // tests/tensor/quantize_state_test
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.WithoutVectors("PyTorch prunes modules, by masks");
  s.Function([](In in, const PruneAttrs& a) { return MagnitudePrune(in[0], a.rate); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const double rate = attrs.get<PruneAttrs>().rate;
    RefTensor y = in[0];
    std::vector<double> sizes;
    for (const double v : y.values) sizes.push_back(std::abs(v));
    std::sort(sizes.begin(), sizes.end());
    const auto n = static_cast<double>(sizes.size());
    for (double& v : y.values) {
      if (rate == 1 || std::abs(v) < sizes[static_cast<size_t>((n - 1) * rate)]) v = 0;
    }
    return std::vector<RefTensor>{y};
  });
  s.AddLarge("4M", {Normal({2048, 2048})}, PruneAttrs{}, 0, 33.6e6);
  s.Add("matrix", {Distinct({3, 7})}, PruneAttrs{});
  s.Add("filters", {Distinct({2, 8, 3, 2})}, PruneAttrs{0.5});
  s.Add("equal sizes", {Values({1, -1, 2, -2, 1, 3})}, PruneAttrs{0.5});
  s.Add("number", {Values({-2}, {})}, PruneAttrs{});
  s.Add("none", {Distinct({5})}, PruneAttrs{0});
  s.Add("all", {Distinct({5})}, PruneAttrs{1});
  s.Add("nothing", {Normal({0, 3})}, PruneAttrs{});
  s.AddError("rate", {Normal({3})}, PruneAttrs{1.5}, "rate must lie in [0, 1], got 1.5");
  s.AddError("NaN", {Normal({3})}, PruneAttrs{NAN}, "rate must lie in [0, 1], got nan");
  s.AddError("integers", {Integers({3}, 0, 9)}, PruneAttrs{}, "x must be f32, f64, f16 or bf16");
}

struct InqAttrs {
  int64_t num_bits = 4;
  std::vector<int64_t> iterations = {};
  InqSelection selection = InqSelection::kLargestAbs;
  bool training = true;
  template <class V>
  void Visit(V& v) {
    v.Field("num_bits", num_bits);
    v.Field("iterations", iterations);
    v.Field("selection", selection);
    v.Field("training", training);
  }
};

// The power of two that is next to a positive number, the larger one from 3/2 of the smaller on.
double NextPower(double x) {
  const double below = std::exp2(std::floor(std::log2(x)));
  return x < 1.5 * below ? below : 2 * below;
}

// The elements that are then fixed, the count of steps, the generator's position, and the weights.
std::vector<RefTensor> Quantized(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const InqAttrs& a = attrs.get<InqAttrs>();
  RefTensor fixed = in[1], step = in[2], y = in[0];
  if (a.training && y.size() > 0) {
    std::vector<int64_t> free;
    for (int64_t i = 0; i < y.size(); ++i) {
      if (fixed[i] == 0) free.push_back(i);
    }
    std::stable_sort(free.begin(), free.end(),
                     [&](int64_t i, int64_t j) { return std::abs(y[i]) > std::abs(y[j]); });
    const auto now = static_cast<int64_t>(step[0]);
    const bool listed = std::count(a.iterations.begin(), a.iterations.end(), now) > 0;
    const size_t count = !listed ? 0 : now == a.iterations.back() ? free.size() : free.size() / 2;
    for (size_t i = 0; i < count; ++i) fixed[free[i]] = 1;
    step[0] += 1;
  }
  double largest = 0;
  for (const double w : y.values) largest = std::max(largest, std::abs(w));
  const double top = NextPower(largest), least = top * std::exp2(1 - std::exp2(a.num_bits - 2));
  for (int64_t i = 0; i < y.size(); ++i) {
    const double size = std::abs(in[0][i]);
    if (fixed[i] == 0) continue;
    y[i] = size < least / 2 ? 0 : std::copysign(std::clamp(NextPower(size), least, top), in[0][i]);
  }
  return {fixed, step, in[3], y};
}

FIRN_REGISTER_COMPOSITE(inq_quantize) {
  s.Declare({{.name = "w", .dtypes = kFloating},
             {.name = "fixed", .dtypes = kBoolean, .inout = true},
             {.name = "step", .dtypes = SetOf(DType::kI64), .inout = true},
             {.name = "state", .dtypes = SetOf(DType::kI64), .inout = true}},
            {{.name = "y", .same_dtype_as = "w"}});
  s.Function([](In in, const InqAttrs& a) {
    return DrawFrom(in[3], [&](RandomGenerator* g) {
      return InqQuantize(in[0], in[1], in[2],
                         {.num_bits = a.num_bits,
                          .iterations = a.iterations,
                          .selection = a.selection,
                          .training = a.training,
                          .generator = g});
    });
  });
  s.WithoutVectors("PyTorch does not have it");
  s.Reference(Quantized);
  const auto add = [&](const char* name, const Shape& shape, int64_t step,
                       const InqAttrs& a) -> Sample& {
    return s.Add(name, {Normal(shape), Booleans(shape), Indices({step}), State()}, a);
  };
  add("half of the free ones", {3, 7}, 2, InqAttrs{4, {2, 5}});
  add("the last ones", {2, 8, 3, 2}, 5, InqAttrs{5, {2, 5}});
  add("no step", {3, 7}, 3, InqAttrs{2, {2, 5}});
  add("evaluation", {3, 7}, 2, InqAttrs{4, {2, 5}, InqSelection::kLargestAbs, false});
  add("drawn", {3, 7}, 2, InqAttrs{4, {2, 5}, InqSelection::kRandom}).check_values = false;
  add("nothing", {0, 3}, 2, InqAttrs{4, {2, 5}});
  s.AddLarge("1M, half of them",
             {Normal({1024, 1024}), Booleans({1024, 1024}), Indices({2}), State()},
             InqAttrs{4, {2, 5}}, 0, 9.4e6);
  const auto add_error = [&](const char* name, const Tensor& w, const Tensor& step,
                             const InqAttrs& a, const char* message) {
    s.AddError(name, {w, Booleans({3}), step, State()}, a, message);
  };
  add_error("fixed", Normal({4}), Indices({2}), {}, "fixed must be bool of the shape of w");
  add_error("step", Normal({3}), Indices({2, 3}), {}, "step must be one i64, got i64 [2]");
  add_error("bits", Normal({3}), Indices({2}), {9}, "num_bits must be between 2 and 8, got 9");
  add_error("iterations", Normal({3}), Indices({2}), {4, {5, 5}}, "iterations must ascend");
}

}  // namespace
}  // namespace firn::testing
