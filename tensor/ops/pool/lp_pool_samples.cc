#include <cmath>
#include <vector>

#include "firn/tensor/ops/conv/images_samples.h"
#include "firn/tensor/ops/pool/lp_pool.h"
#include "firn/tensor/problems/images.h"
#include "firn/tensor/problems/pool_problem.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct LpPoolAttrs {
  double p = 2;
  Sizes kernel = 2, stride = 2;
  bool ceil_mode = false;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("kernel", kernel);
    v.Field("stride", stride);
    v.Field("ceil_mode", ceil_mode);
  }
};

template <Tensor (*kPool)(const Tensor&, Real, const LpPoolOptions&)>
Tensor Call(In in, const LpPoolAttrs& a) {
  return kPool(in[0], a.p, {.kernel = a.kernel, .stride = a.stride, .ceil_mode = a.ceil_mode});
}

// The averages of powers; avg_pool's samples check averages by the slow way.
template <int kDims>
std::vector<RefTensor> PowerMeans(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const LpPoolAttrs& a = attrs.get<LpPoolAttrs>();
  RefTensor powers = in[0];
  for (double& v : powers.values) v = std::pow(v, a.p);
  const PoolAttrs windows{.kernel = a.kernel, .stride = a.stride, .ceil_mode = a.ceil_mode};
  std::vector<RefTensor> y = SamplesOf(kDims == 1 ? "avg_pool1d" : "avg_pool2d")
                                 ->reference(absl::MakeConstSpan(&powers, 1), windows);
  const auto taps = static_cast<double>(a.kernel.Over(kDims).volume());
  for (double& v : y[0].values) v = std::pow(v * taps, 1 / a.p);
  return y;
}

FIRN_REGISTER_COMPOSITE(lp_pool1d) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 3, .max_rank = 3}});
  s.Function(Call<LpPool1d>);
  s.Reference(PowerMeans<1>);
  s.Add("2", {Uniform({2, 3, 8}, 0.5, 2)}, LpPoolAttrs{});
  s.Add("overlapping, p = 3, ceil mode", {Uniform({1, 2, 8}, 0.5, 2)},
        LpPoolAttrs{.p = 3, .kernel = 3, .ceil_mode = true});
  s.AddLarge("32x64x512", {Uniform({32, 64, 512}, 0.5, 2)}, LpPoolAttrs{}, 4 * 1.05e6, 6.3e6);
  s.AddError("p", {Uniform({1, 2, 8}, 0.5, 2)}, LpPoolAttrs{.p = 0},
             "p is 0 (want a positive number)");
  s.AddError("kernel", {Uniform({1, 2, 8}, 0.5, 2)}, LpPoolAttrs{.kernel = {2, 2}},
             "kernel (2, 2) has 2 numbers (want 1)");
}

FIRN_REGISTER_COMPOSITE(lp_pool2d) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4}});
  s.Function(Call<LpPool2d>);
  s.Reference(PowerMeans<2>);
  s.Add("2x2", {Uniform({2, 3, 4, 6}, 0.5, 2)}, LpPoolAttrs{});
  s.Add("unequal sides, p = 3", {Uniform({1, 2, 7, 5}, 0.5, 2)},
        LpPoolAttrs{.p = 3, .kernel = {3, 2}, .stride = {2, 1}});
  s.Add("even p of negative numbers", {Distinct({1, 2, 4, 4}, 0.25)}, LpPoolAttrs{});
  s.AddLarge("32x64x32x32", {Uniform({32, 64, 32, 32}, 0.5, 2)}, LpPoolAttrs{}, 4 * 2.1e6, 10.5e6);
  s.AddError("p", {Uniform({1, 2, 4, 4}, 0.5, 2)}, LpPoolAttrs{.p = -1},
             "p is -1 (want a positive number)");
}

template <Tensor (*kPool)(const Tensor&, Real, const LpPoolOptions&)>
Tensor GoldenPool(GoldenArgs& args) {
  const Sizes kernel = SizesFrom(args, "kernel", 1);
  return kPool(args["x"], args.Number("p", 2),
               {.kernel = kernel,
                .stride = args.Has("stride") ? SizesFrom(args, "stride", 1) : kernel,
                .ceil_mode = args.Flag("ceil_mode", false)});
}

FIRN_REGISTER_GOLDEN(lp_pool1d) { return GoldenPool<LpPool1d>(args); }
FIRN_REGISTER_GOLDEN(lp_pool2d) { return GoldenPool<LpPool2d>(args); }

}  // namespace
}  // namespace firn::testing
