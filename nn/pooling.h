#ifndef FIRN_NN_POOLING_H_
#define FIRN_NN_POOLING_H_

// Pooling as layers; options, formulas and shapes are those of the operations. Of each there is one
// for sequences, images and volumes, and inputs may lack their batch.

#include <string>

#include "firn/nn/describe.h"
#include "firn/nn/function_layer.h"
#include "firn/nn/layer.h"
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
class MaxPool final : public Layer {
 public:
  using Options = MaxPoolOptions;
  explicit MaxPool(const Options& options = {}) : options_(options) {}

  const Options& options() const { return options_; }
  std::string type_name() const override {
    return inner::internal::OfDims<kDims>("MaxPool1d", "MaxPool2d", "MaxPool3d");
  }
  std::string Describe() const override {
    const Options& o = options_;
    Describer d;
    d.Field("kernel", o.kernel).Field("stride", o.stride.Or(o.kernel), o.kernel);
    d.Field("padding", o.padding, 0).Field("dilation", o.dilation, 1);
    d.Field("ceil_mode", o.ceil_mode, false);
    return d.text();
  }

  // The maxima and where they were, as MaxUnpool2d takes them: PyTorch's return_indices. Hooks see
  // nothing of it.
  ValuesAndIndices WithIndices(const Tensor& x) {
    const CallScope scope(*this);
    return inner::internal::OfDims<kDims>(MaxPool1dWithIndices, MaxPool2dWithIndices,
                                          MaxPool3dWithIndices)(x, options_);
  }

 protected:
  Tensor Forward(const Tensor& x) override {
    using Function = Tensor (*)(const Tensor&, const MaxPoolOptions&);
    return inner::internal::OfDims<kDims, Function>(firn::MaxPool1d, firn::MaxPool2d,
                                                    firn::MaxPool3d)(x, options_);
  }

 private:
  Options options_;
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

// Called with (x, indices).
struct MaxUnpool2dFunction {
  static constexpr const char* kName = "MaxUnpool2d";
  using Options = MaxUnpool2dOptions;
  static Tensor Call(const Tensor& x, const Tensor& indices, const Options& o) {
    return firn::MaxUnpool2d(x, indices, o);
  }
  static void Describe(const Options& o, Describer& d) {
    d.Field("kernel", o.kernel).Field("stride", o.stride.Or(o.kernel), o.kernel);
    d.Field("padding", o.padding, 0);
    if (o.output_size.given()) d.Field("output_size", o.output_size);
  }
};
using MaxUnpool2d = FunctionLayerOf<MaxUnpool2dFunction, Tensor, Tensor>;

template <int kDims>
struct AvgPoolFunction {
  static constexpr const char* kName =
      inner::internal::OfDims<kDims>("AvgPool1d", "AvgPool2d", "AvgPool3d");
  using Options = AvgPoolOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    using Function = Tensor (*)(const Tensor&, const AvgPoolOptions&);
    return inner::internal::OfDims<kDims, Function>(firn::AvgPool1d, firn::AvgPool2d,
                                                    firn::AvgPool3d)(x, o);
  }
  static void Describe(const Options& o, Describer& d) {
    d.Field("kernel", o.kernel).Field("stride", o.stride.Or(o.kernel), o.kernel);
    d.Field("padding", o.padding, 0).Field("ceil_mode", o.ceil_mode, false);
    d.Field("count_include_pad", o.count_include_pad, true);
    d.Field("divisor_override", o.divisor_override, 0);
  }
};
using AvgPool1d = FunctionLayer<AvgPoolFunction<1>>;
using AvgPool2d = FunctionLayer<AvgPoolFunction<2>>;
using AvgPool3d = FunctionLayer<AvgPoolFunction<3>>;

template <int kDims>
struct LpPoolFunction {
  static constexpr const char* kName = kDims == 1 ? "LpPool1d" : "LpPool2d";
  struct Options {
    double p = 2;
    Sizes kernel = 2;
    Sizes stride = {};  // default: the kernel
    bool ceil_mode = false;
  };
  static Tensor Call(const Tensor& x, const Options& o) {
    const LpPoolOptions windows = {
        .kernel = o.kernel, .stride = o.stride, .ceil_mode = o.ceil_mode};
    return kDims == 1 ? firn::LpPool1d(x, o.p, windows) : firn::LpPool2d(x, o.p, windows);
  }
  static void Describe(const Options& o, Describer& d) {
    d.Field("p", o.p).Field("kernel", o.kernel);
    d.Field("stride", o.stride.Or(o.kernel), o.kernel).Field("ceil_mode", o.ceil_mode, false);
  }
};
using LpPool1d = FunctionLayer<LpPoolFunction<1>>;
using LpPool2d = FunctionLayer<LpPoolFunction<2>>;

// Options of pooling to a given size.
struct AdaptivePoolOptions {
  Sizes output_size = 1;
};

template <int kDims>
struct AdaptiveAvgPoolFunction {
  static constexpr const char* kName =
      inner::internal::OfDims<kDims>("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d");
  using Options = AdaptivePoolOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return inner::internal::OfDims<kDims>(firn::AdaptiveAvgPool1d, firn::AdaptiveAvgPool2d,
                                          firn::AdaptiveAvgPool3d)(x, o.output_size);
  }
  static void Describe(const Options& o, Describer& d) { d.Field("output_size", o.output_size); }
};
using AdaptiveAvgPool1d = FunctionLayer<AdaptiveAvgPoolFunction<1>>;
using AdaptiveAvgPool2d = FunctionLayer<AdaptiveAvgPoolFunction<2>>;
using AdaptiveAvgPool3d = FunctionLayer<AdaptiveAvgPoolFunction<3>>;

template <int kDims>
struct AdaptiveMaxPoolFunction {
  static constexpr const char* kName =
      inner::internal::OfDims<kDims>("AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d");
  using Options = AdaptivePoolOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return inner::internal::OfDims<kDims>(firn::AdaptiveMaxPool1d, firn::AdaptiveMaxPool2d,
                                          firn::AdaptiveMaxPool3d)(x, o.output_size);
  }
  static void Describe(const Options& o, Describer& d) { d.Field("output_size", o.output_size); }
};
using AdaptiveMaxPool1d = FunctionLayer<AdaptiveMaxPoolFunction<1>>;
using AdaptiveMaxPool2d = FunctionLayer<AdaptiveMaxPoolFunction<2>>;
using AdaptiveMaxPool3d = FunctionLayer<AdaptiveMaxPoolFunction<3>>;

}  // namespace firn::nn

#endif  // FIRN_NN_POOLING_H_
