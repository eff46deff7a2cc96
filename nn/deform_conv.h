#ifndef FIRN_NN_DEFORM_CONV_H_
#define FIRN_NN_DEFORM_CONV_H_

#include <cstdint>

#include "firn/nn/conv_base.h"
#include "firn/tensor/sizes.h"

namespace firn::nn {

struct DeformConv2dOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  Sizes kernel = 1;
  Sizes stride = 1;
  Sizes padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(fan_in)
  init::Initializer bias_init = {};    // empty: the same
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.Field("padding", padding);
    v.Field("dilation", dilation);
    v.Field("groups", groups);
    v.Field("bias", bias);
  }
};

using DeformConvBase = ConvBaseOf<Tensor, Tensor, Tensor>;

// A convolution whose taps are moved at each place, as torchvision's DeformConv2d; see
// tensor/ops/vision/deform_conv.h for the formula. Offsets and masks, which weight the taps, come
// from other layers, mostly a convolution each.
// x: [n, in, h, w]      offset: [n, parts kh kw 2, oh, ow]      mask: [n, parts kh kw, oh, ow]
// y: [n, out, oh, ow]
//
//   Tensor y = deform(x, offset(x));
//   Tensor z = deform(x, offset(x), Sigmoid(mask(x)));
//
// Parameters: weight [out, in / groups, kh, kw], bias [out].
class DeformConv2d final : public LayerWithOptions<DeformConv2dOptions, DeformConvBase> {
 public:
  // Throws when a size is not positive or not one for each dimension, or groups does not divide the
  // channels.
  explicit DeformConv2d(const Options& options);

  using DeformConvBase::operator();
  // Without a mask; hooks see an undefined tensor for it.
  Tensor operator()(const Tensor& x, const Tensor& offset) { return (*this)(x, offset, Tensor()); }

 protected:
  Tensor Forward(const Tensor& x, const Tensor& offset, const Tensor& mask) override;
  void AddKnown(Options& options) const override { options.in = in(); }
};

}  // namespace firn::nn

#endif  // FIRN_NN_DEFORM_CONV_H_
