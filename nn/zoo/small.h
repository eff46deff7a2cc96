#ifndef FIRN_NN_ZOO_SMALL_H_
#define FIRN_NN_ZOO_SMALL_H_

// Networks for digits and small pictures, which the examples, `firn train` and the benchmarks
// train. Sizes of images are not given: the first linear layer learns its input size from the first
// batch. Parameters have the names of benchmarks/peers/torch_models.py.

#include <cstdint>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/res_unit.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SmallOptions {
  int64_t channels = 1, classes = 10;
  template <class V>
  void Visit(V& v) {
    v.Field("channels", channels);
    v.Field("classes", classes);
  }
};

// Two blocks of 5x5 convolution, batch norm, relu and 2x2 max pooling, then two linear layers.
// x: [n, channels, h, w] with h, w >= 4      y: [n, classes]
class Lenet final : public nn::LayerWithOptions<SmallOptions> {
 public:
  explicit Lenet(const Options& options = {}) : LayerWithOptions(options) {}

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv1_ =
      Add<nn::Conv2d>("conv1", {.in = options().channels, .out = 16, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& bn1_ =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kRelu});
  nn::Conv2d& conv2_ = Add<nn::Conv2d>("conv2", {.in = 16, .out = 32, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& bn2_ =
      Add<nn::BatchNorm2d>("bn2", {.channels = 32, .activation = FusedActivation::kRelu});
  nn::Linear& fc1_ = Add<nn::Linear>("fc1", {.out = 128});
  nn::Linear& fc2_ = Add<nn::Linear>("fc2", {.in = 128, .out = options().classes});
};

struct MlpOptions {
  std::vector<int64_t> hidden = {64};
  int64_t classes = 10;
  template <class V>
  void Visit(V& v) {
    v.Always("hidden", hidden);
    v.Field("classes", classes);
  }
};

// Linear layers with relu between them: fc1, fc2, ...
// x: [n, ...]      y: [n, classes]
class Mlp final : public nn::LayerWithOptions<MlpOptions> {
 public:
  explicit Mlp(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  std::vector<nn::Linear*> layers_;
};

// A convolution, three residual units of 16, 32 and 64 channels, the mean over each channel.
// x: [n, channels, h, w]      y: [n, classes]
class SmallResnet final : public nn::LayerWithOptions<SmallOptions> {
 public:
  explicit SmallResnet(const Options& options = {}) : LayerWithOptions(options) {}

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv1_ =
      Add<nn::Conv2d>("conv1", {.in = options().channels, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn1_ =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kRelu});
  nn::ResUnit& unit1_ = Add<nn::ResUnit>("unit1", {.in = 16, .out = 16});
  nn::ResUnit& unit2_ = Add<nn::ResUnit>("unit2", {.in = 16, .out = 32, .stride = 2});
  nn::ResUnit& unit3_ = Add<nn::ResUnit>("unit3", {.in = 32, .out = 64, .stride = 2});
  nn::Linear& fc_ = Add<nn::Linear>("fc", {.in = 64, .out = options().classes});
};

struct DeepCnnOptions {
  int64_t depth = 10;  // of the blocks with 128 channels
  int64_t classes = 10;
  template <class V>
  void Visit(V& v) {
    v.Always("depth", depth);
    v.Field("classes", classes);
  }
};

// The blocks of DeepCnn: 3x3 convolutions to 64, 128 (`depth` times) and 512 channels, and a batch
// norm for each. Throws when depth is negative.
void AddDeepCnnBlocks(int64_t depth, nn::ModuleList<nn::Conv2d>* convs,
                      nn::ModuleList<nn::BatchNorm2d>* bns);

// depth + 2 blocks of 3x3 convolution, batch norm and tanh with 64, 128, ..., 128, 512 channels,
// average pooling, two linear layers: the network of NNabla's static-versus-dynamic tutorial.
// x: [n, 1, h, w] with h, w >= 2      y: [n, classes]
class DeepCnn final : public nn::LayerWithOptions<DeepCnnOptions> {
 public:
  // Throws when depth is negative.
  explicit DeepCnn(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::ModuleList<nn::Conv2d>& convs_ = Add<nn::ModuleList<nn::Conv2d>>("convs");
  nn::ModuleList<nn::BatchNorm2d>& bns_ = Add<nn::ModuleList<nn::BatchNorm2d>>("bns");
  nn::Linear& fc1_ = Add<nn::Linear>("fc1", {.out = 1024});
  nn::Linear& fc2_ = Add<nn::Linear>("fc2", {.in = 1024, .out = options().classes});
};

// "lenet" and "small_resnet", of images of 28x28 pixels; "mlp" and "deep_cnn", of 8x8.
std::vector<Network> SmallNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SMALL_H_
