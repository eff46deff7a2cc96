#ifndef FIRN_NN_ZOO_ALEXNET_H_
#define FIRN_NN_ZOO_ALEXNET_H_

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014: AlexNet
// (Krizhevsky et al., 2012) for one device. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct AlexnetOptions {
  int64_t classes = 1000;
  double dropout = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w] with h, w >= 63      y: [n, classes]
// Children: features.0, features.3, ..., classifier.1, classifier.4, classifier.6.
class Alexnet final : public nn::LayerWithOptions<AlexnetOptions> {
 public:
  explicit Alexnet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "alexnet". Throws for another name.
AlexnetOptions AlexnetOf(const std::string& name, const Options& options = {});

std::vector<Network> AlexnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_ALEXNET_H_
