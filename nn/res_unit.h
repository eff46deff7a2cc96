#ifndef FIRN_NN_RES_UNIT_H_
#define FIRN_NN_RES_UNIT_H_

#include <cstdint>
#include <string>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"

namespace firn::nn {

struct ResUnitOptions {
  int64_t in = kDeferred;  // channels
  int64_t out = 0;
  int64_t stride = 1;  // of the first convolution and of the shortcut
};

// Two 3x3 convolutions with batch norm, plus a shortcut around them (He et al., 2015):
//   y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))
// The shortcut is the identity when the shape is kept, else a strided 1x1 convolution with batch
// norm.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Names: conv1, bn1, conv2, bn2 and, only when the shape changes, shortcut_conv, shortcut_bn. While
// `in` is not known and the stride is 1 these two are there, tentatively.
class ResUnit final : public Layer {
 public:
  using Options = ResUnitOptions;
  explicit ResUnit(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor Shortcut(const Tensor& x);

  Options options_;
  Conv2d& conv1_;
  BatchNorm2d& bn1_;
  Conv2d& conv2_;
  BatchNorm2d& bn2_;
  Conv2d* shortcut_conv_ = nullptr;  // both null when the shortcut is the identity
  BatchNorm2d* shortcut_bn_ = nullptr;
};

}  // namespace firn::nn

#endif  // FIRN_NN_RES_UNIT_H_
