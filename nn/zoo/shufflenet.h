#ifndef FIRN_NN_ZOO_SHUFFLENET_H_
#define FIRN_NN_ZOO_SHUFFLENET_H_

// Zhang et al., "ShuffleNet: an extremely efficient convolutional neural network for mobile
// devices", 2017. Names and shapes are those of the authors' PyTorch code.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct ShufflenetUnitOptions {
  int64_t in = 240, out = 240;            // channels; as many in both with stride 1
  int64_t stride = 1;                     // 2: the averaged x stands beside the convolved channels
  int64_t in_groups = 3, out_groups = 3;  // of the two convolutions of 1x1
};

// Convolutions of 1x1 in groups to a quarter of the channels, of 3x3 of each channel on its own,
// and of 1x1 in groups, before which channels are dealt out to the groups in turn.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Children: branch_main_1.0, .1, .3, .4, branch_main_2.0, .1.
class ShufflenetUnit final : public nn::LayerWithOptions<ShufflenetUnitOptions> {
 public:
  explicit ShufflenetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& branch_main_1_;
  nn::Sequential& branch_main_2_;
};

struct ShufflenetOptions {
  // Those of the stem and of the three stages, which have 4, 8 and 4 units.
  std::vector<int64_t> channels = {24, 240, 480, 960};
  int64_t groups = 3;
  int64_t classes = 1000;
  template <class V>
  void Visit(V& v) {
    v.Always("channels", channels);
    v.Field("groups", groups);
    v.Field("classes", classes);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: first_conv.0, first_conv.1, features.0 ... features.15, classifier.0, without a bias.
class Shufflenet final : public nn::LayerWithOptions<ShufflenetOptions> {
 public:
  // Throws unless `channels` are four positive numbers that grow, `groups` divides a quarter of
  // those of each stage and what the stage's first unit adds to the channels before it.
  explicit Shufflenet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& first_conv_;
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "shufflenet_x0_5", "shufflenet_x1_0", "shufflenet_x1_5" or "shufflenet_x2_0", all of
// three groups. Throws for another name.
ShufflenetOptions ShufflenetOf(const std::string& name, const Options& options = {});

std::vector<Network> ShufflenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SHUFFLENET_H_
