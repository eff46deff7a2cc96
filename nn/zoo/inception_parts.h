#ifndef FIRN_NN_ZOO_INCEPTION_PARTS_H_
#define FIRN_NN_ZOO_INCEPTION_PARTS_H_

// Parts that GoogLeNet and Inception v3 share. Names are torchvision's.

#include <cstdint>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"

namespace firn::zoo {

struct BasicConvOptions {
  int64_t in = 3, out = 64;  // channels
  Sizes kernel = 1;
  Sizes stride = 1;
  Sizes padding = 0;
  double deviation = 0.1;  // of the normal distribution that the weight is drawn from
};

// y = relu(bn(conv(x))).
// x: [n, in, h, w]      y: [n, out, (h + 2 padding - kernel) / stride + 1, ...]
// Children: conv, without bias, and bn.
class BasicConv final : public nn::LayerWithOptions<BasicConvOptions> {
 public:
  explicit BasicConv(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv_;
  nn::BatchNorm2d& bn_;
};

// Half of the kernel, which keeps the size of an image where the kernel is odd and the stride 1.
Sizes HalfOf(const Sizes& kernel);

// Converts colours from ImagenetColours to mean and deviation 0.5, with which the first weights of
// these networks were trained (torchvision's transform_input). Thread-safe.
class HalfColours {
 public:
  HalfColours();
  // x, y: [n, 3, h, w]
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor scale_, shift_;  // f64, made before any graph is captured
};

// Throws, naming `network`, that it was made without auxiliary classifiers.
[[noreturn]] void RaiseNoAuxiliary(const char* network);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_INCEPTION_PARTS_H_
