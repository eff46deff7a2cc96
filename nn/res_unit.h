#ifndef FIRN_NN_RES_UNIT_H_
#define FIRN_NN_RES_UNIT_H_

#include <cstdint>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"

namespace firn::nn {

struct ResUnitOptions {
  // Channels. `in` may be left open only if the stride is not 1: with stride 1 it decides whether
  // the shortcut has a convolution.
  int64_t in = kDeferred;
  int64_t out = 0;
  int64_t stride = 1;  // of the first convolution and of the shortcut
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "out", out);
    v.Field("stride", stride);
  }
};

// Two 3x3 convolutions with batch norm, plus a shortcut around them (He et al., 2015):
//   y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))
// The shortcut is the identity when the shape is kept, else a strided 1x1 convolution with batch
// norm.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Names: conv1, bn1, conv2, bn2 and, only when the shape changes, shortcut_conv, shortcut_bn.
class ResUnit final : public LayerWithOptions<ResUnitOptions> {
 public:
  // Throws when `in` is left open and the stride is 1.
  explicit ResUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override { options.in = conv1_.in(); }

 private:
  Tensor Shortcut(const Tensor& x);

  Conv2d& conv1_;
  BatchNorm2d& bn1_;
  Conv2d& conv2_;
  BatchNorm2d& bn2_;
  Conv2d* shortcut_conv_ = nullptr;  // both null when the shortcut is the identity
  BatchNorm2d* shortcut_bn_ = nullptr;
};

}  // namespace firn::nn

#endif  // FIRN_NN_RES_UNIT_H_
