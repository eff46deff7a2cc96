#ifndef FIRN_NN_ZOO_NIN_H_
#define FIRN_NN_ZOO_NIN_H_

// Network in network (Lin et al., "Network in network", 2013) for ImageNet: behind each convolution
// two of 1x1, which are a perceptron of each pixel. Names are those of the authors' Caffe model.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct NinOptions {
  int64_t classes = 1000;
  double dropout = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w] with h, w >= 51      y: [n, classes]
// Children: conv1, cccp1, cccp2, ..., conv4, cccp7, cccp8; drop.
class Nin final : public nn::LayerWithOptions<NinOptions> {
 public:
  explicit Nin(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void AddStage(const nn::ConvOptions& conv, int64_t last);

  std::vector<nn::Conv2d*> convs_;  // three of each stage
  nn::Dropout& drop_;
};

// Options of "nin". Throws for another name.
NinOptions NinOf(const std::string& name, const Options& options = {});

std::vector<Network> NinNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_NIN_H_
