#ifndef FIRN_NN_ZOO_SHUFFLENET_V2_H_
#define FIRN_NN_ZOO_SHUFFLENET_V2_H_

// Ma et al., "ShuffleNet V2: practical guidelines for efficient CNN architecture design", 2018.
// Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct ShufflenetV2UnitOptions {
  int64_t in = 116, out = 116;  // channels, `out` an even number; as many in both with stride 1
  int64_t stride = 1;           // 2: both halves of y are convolved from all of x
};

// With stride 1 half of x's channels stay as they are and the others are convolved; then the
// channels of both halves alternate. x: [n, in, h, w] y: [n, out, ceil(h / stride), ceil(w /
// stride)] Children: branch2.0 ... branch2.6 and with stride 2 branch1.0 ... branch1.3.
class ShufflenetV2Unit final : public nn::LayerWithOptions<ShufflenetV2UnitOptions> {
 public:
  explicit ShufflenetV2Unit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential* branch1_ = nullptr;  // null with stride 1
  nn::Sequential& branch2_;
};

struct ShufflenetV2Options {
  // Those of the stem, the three stages and the last convolution; those of stages are even.
  std::vector<int64_t> channels = {24, 116, 232, 464, 1024};
  int64_t classes = 1000;
  template <class V>
  void Visit(V& v) {
    v.Always("channels", channels);
    v.Field("classes", classes);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: conv1.0, conv1.1, stage2.0 ... stage4.3, conv5.0, conv5.1, fc.
class ShufflenetV2 final : public nn::LayerWithOptions<ShufflenetV2Options> {
 public:
  // Throws unless `channels` are five positive numbers, those of stages even.
  explicit ShufflenetV2(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& AddStage(size_t stage);

  nn::Sequential& conv1_;
  std::vector<nn::Sequential*> stages_;
  nn::Sequential& conv5_;
  nn::Linear& fc_;
};

// Options of "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5" or
// "shufflenet_v2_x2_0". Throws for another name.
ShufflenetV2Options ShufflenetV2Of(const std::string& name, const Options& options = {});

std::vector<Network> ShufflenetV2Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SHUFFLENET_V2_H_
