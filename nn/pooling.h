#ifndef FIRN_NN_POOLING_H_
#define FIRN_NN_POOLING_H_

// Pooling as layers; options, formulas and shapes are those of the operations. Each has one
// for sequences, images and volumes, and inputs may lack their batch.

#include <string>

#include "firn/nn/function_layer.h"
#include "firn/nn/layer.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/lp_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/pool/max_unpool.h"

namespace firn::inner::internal {

// One of three by the number of spatial dimensions.
template <int kDims, class T>
constexpr T OfDims(T one, T two, T three) {
  static_assert(kDims >= 1 && kDims <= 3);
  return kDims == 1 ? one : kDims == 2 ? two : three;
}

}  // namespace firn::inner::internal

namespace firn::nn {

template <int kDims>
class MaxPool final : public LayerWithOptions<MaxPoolOptions> {
 public:
  explicit MaxPool(const Options& options = {}) : LayerWithOptions(options) {
    options.Check(
        inner::internal::OfDims<kDims>("nn::MaxPool1d", "nn::MaxPool2d", "nn::MaxPool3d"));
  }

  std::string type_name() const override {
    return inner::internal::OfDims<kDims>("MaxPool1d", "MaxPool2d", "MaxPool3d");
  }

  // The maxima and their places, as MaxUnpool2d takes them: PyTorch's return_indices. Hooks do not
  // see this call.
  ValuesAndIndices WithIndices(const Tensor& x) {
    const CallScope scope(*this);
    return inner::internal::OfDims<kDims>(MaxPool1dWithIndices, MaxPool2dWithIndices,
                                          MaxPool3dWithIndices)(x, options());
  }

 protected:
  Tensor Forward(const Tensor& x) override {
    using Function = Tensor (*)(const Tensor&, const MaxPoolOptions&);
    return inner::internal::OfDims<kDims, Function>(firn::MaxPool1d, firn::MaxPool2d,
                                                    firn::MaxPool3d)(x, options());
  }
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

// Called with (x, indices).
using MaxUnpool2d = LayerOfFunction<"MaxUnpool2d", firn::MaxUnpool2d>;

using AvgPool1d = LayerOfOverload<"AvgPool1d", AvgPoolOptions, firn::AvgPool1d>;
using AvgPool2d = LayerOfOverload<"AvgPool2d", AvgPoolOptions, firn::AvgPool2d>;
using AvgPool3d = LayerOfOverload<"AvgPool3d", AvgPoolOptions, firn::AvgPool3d>;

struct LpPoolLayerOptions {
  double p = 2;
  Sizes kernel = 2;
  Sizes stride = {};  // default: the kernel
  bool ceil_mode = false;
  template <class V>
  void Visit(V& v) {
    v.Always("p", p);
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.Field("ceil_mode", ceil_mode);
  }
};

template <int kDims>
struct LpPoolFunction {
  static constexpr const char* kName = kDims == 1 ? "LpPool1d" : "LpPool2d";
  using Options = LpPoolLayerOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    const LpPoolOptions windows = {
        .kernel = o.kernel, .stride = o.stride, .ceil_mode = o.ceil_mode};
    return kDims == 1 ? firn::LpPool1d(x, o.p, windows) : firn::LpPool2d(x, o.p, windows);
  }
  static void Check(const Options& o, const char* where) {
    inner::CheckLpPool(kDims, o.p, o.kernel, where);
  }
};
using LpPool1d = FunctionLayer<LpPoolFunction<1>>;
using LpPool2d = FunctionLayer<LpPoolFunction<2>>;

// Options of pooling to a given size.
struct AdaptivePoolOptions {
  Sizes output_size = 1;
  template <class V>
  void Visit(V& v) {
    v.Always("output_size", output_size);
  }
  void Check(const char* where) const { CheckSpatial(where, "output_size", output_size, 1); }
};

template <internal::LayerName kName, auto kFunction>
using AdaptivePool = LayerOfFunction<kName, kFunction, AdaptivePoolOptions>;

using AdaptiveAvgPool1d = AdaptivePool<"AdaptiveAvgPool1d", firn::AdaptiveAvgPool1d>;
using AdaptiveAvgPool2d = AdaptivePool<"AdaptiveAvgPool2d", firn::AdaptiveAvgPool2d>;
using AdaptiveAvgPool3d = AdaptivePool<"AdaptiveAvgPool3d", firn::AdaptiveAvgPool3d>;
using AdaptiveMaxPool1d = AdaptivePool<"AdaptiveMaxPool1d", firn::AdaptiveMaxPool1d>;
using AdaptiveMaxPool2d = AdaptivePool<"AdaptiveMaxPool2d", firn::AdaptiveMaxPool2d>;
using AdaptiveMaxPool3d = AdaptivePool<"AdaptiveMaxPool3d", firn::AdaptiveMaxPool3d>;

}  // namespace firn::nn

#endif  // FIRN_NN_POOLING_H_
