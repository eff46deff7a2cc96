#ifndef FIRN_NN_ZOO_VGG_H_
#define FIRN_NN_ZOO_VGG_H_

// Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition",
// 2014. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct VggOptions {
  // 3x3 convolutions of 64, 128, 256, 512 and 512 channels between poolings.
  std::vector<int64_t> convolutions = {2, 2, 3, 3, 3};
  bool batch_norm = false;
  int64_t classes = 1000;
  double dropout = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Always("convolutions", convolutions);
    v.Field("batch_norm", batch_norm);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w] with h, w >= 32      y: [n, classes]
// Children: features.0 ..., classifier.0, classifier.3, classifier.6.
class Vgg final : public nn::LayerWithOptions<VggOptions> {
 public:
  // Throws unless `convolutions` are five positive numbers.
  explicit Vgg(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "vgg11", "vgg13", "vgg16" or "vgg19", and with "_bn" behind it. Throws for another
// name.
VggOptions VggOf(const std::string& name, const Options& options = {});

std::vector<Network> VggNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_VGG_H_
