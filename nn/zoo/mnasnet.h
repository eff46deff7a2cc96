#ifndef FIRN_NN_ZOO_MNASNET_H_
#define FIRN_NN_ZOO_MNASNET_H_

// Tan et al., "MnasNet: platform-aware neural architecture search for mobile", 2018: MnasNet-B1.
// Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct MnasnetUnitOptions {
  int64_t in = 16, out = 16;  // channels
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t expansion = 3;  // how many times the channels of x are convolved each on its own
};

// Expands, convolves and projects x, and adds x if shape and channels are the same. x: [n, in, h,
// w] y: [n, out, ceil(h / stride), ceil(w / stride)] Children: layers.0, layers.1, layers.3,
// layers.4, layers.6, layers.7: three convolutions, each followed by its norm.
class MnasnetUnit final : public nn::LayerWithOptions<MnasnetUnitOptions> {
 public:
  explicit MnasnetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& layers_;
};

struct MnasnetOptions {
  double width = 1;  // times the channels of every layer but the last, in multiples of 8
  int64_t classes = 1000;
  double dropout = 0.2;
  template <class V>
  void Visit(V& v) {
    v.Always("width", width);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: layers.0, layers.1, layers.3, layers.4, layers.6, layers.7, layers.8.0 ... layers.13.0,
// layers.14, layers.15, classifier.1.
class Mnasnet final : public nn::LayerWithOptions<MnasnetOptions> {
 public:
  // Throws unless the width is positive.
  explicit Mnasnet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& layers_;
  nn::Sequential& classifier_;
};

// Options of "mnasnet0_5", "mnasnet0_75", "mnasnet1_0" or "mnasnet1_3". Throws for another name.
MnasnetOptions MnasnetOf(const std::string& name, const Options& options = {});

std::vector<Network> MnasnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_MNASNET_H_
