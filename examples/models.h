#ifndef FIRN_EXAMPLES_MODELS_H_
#define FIRN_EXAMPLES_MODELS_H_

// The networks of //examples:mnist and of the benchmarks. Parameters have the names of
// benchmarks/peers/torch_models.py, so that a state dict moves between the two.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/res_unit.h"

namespace firn::examples {

inline constexpr int64_t kClasses = 10;

// Two blocks of 5x5 convolution, batch norm, relu and 2x2 max pooling, then two linear layers.
// x: [n, 1, h, w] with h, w >= 4      y: [n, 10]
class Lenet final : public nn::Layer {
 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv1_ = Add<nn::Conv2d>("conv1", {.in = 1, .out = 16, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& bn1_ =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kRelu});
  nn::Conv2d& conv2_ = Add<nn::Conv2d>("conv2", {.in = 16, .out = 32, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& bn2_ =
      Add<nn::BatchNorm2d>("bn2", {.channels = 32, .activation = FusedActivation::kRelu});
  nn::Linear& fc1_ = Add<nn::Linear>("fc1", {.out = 128});
  nn::Linear& fc2_ = Add<nn::Linear>("fc2", {.in = 128, .out = kClasses});
};

// x: [n, ...]      y: [n, 10]
class Mlp final : public nn::Layer {
 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Linear& fc1_ = Add<nn::Linear>("fc1", {.out = 64});
  nn::Linear& fc2_ = Add<nn::Linear>("fc2", {.in = 64, .out = kClasses});
};

// A convolution, three residual units of 16, 32 and 64 channels, the mean over each channel.
// x: [n, 1, h, w]      y: [n, 10]
class Resnet final : public nn::Layer {
 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv1_ = Add<nn::Conv2d>("conv1", {.in = 1, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn1_ =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kRelu});
  nn::ResUnit& unit1_ = Add<nn::ResUnit>("unit1", {.in = 16, .out = 16});
  nn::ResUnit& unit2_ = Add<nn::ResUnit>("unit2", {.in = 16, .out = 32, .stride = 2});
  nn::ResUnit& unit3_ = Add<nn::ResUnit>("unit3", {.in = 32, .out = 64, .stride = 2});
  nn::Linear& fc_ = Add<nn::Linear>("fc", {.in = 64, .out = kClasses});
};

// The blocks of DeepCnn: 3x3 convolutions to 64, 128 (`depth` times) and 512 channels, and a batch
// norm for each. Throws when depth is negative.
void AddBlocks(int64_t depth, nn::ModuleList<nn::Conv2d>* convs,
               nn::ModuleList<nn::BatchNorm2d>* bns);

struct DeepCnnOptions {
  int64_t depth = 10;  // of the blocks with 128 channels
};

// depth + 2 blocks of 3x3 convolution, batch norm and tanh with 64, 128, ..., 128, 512 channels,
// average pooling, two linear layers: the network of NNabla's static-versus-dynamic tutorial.
// x: [n, 1, h, w] with h, w >= 2      y: [n, 10]
class DeepCnn final : public nn::Layer {
 public:
  using Options = DeepCnnOptions;
  // Throws when depth is negative.
  explicit DeepCnn(const Options& options);
  const Options& options() const { return options_; }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  const Options options_;
  nn::ModuleList<nn::Conv2d>& convs_ = Add<nn::ModuleList<nn::Conv2d>>("convs");
  nn::ModuleList<nn::BatchNorm2d>& bns_ = Add<nn::ModuleList<nn::BatchNorm2d>>("bns");
  nn::Linear& fc1_ = Add<nn::Linear>("fc1", {.out = 1024});
  nn::Linear& fc2_ = Add<nn::Linear>("fc2", {.in = 1024, .out = kClasses});
};

// "lenet", "mlp", "resnet" or "deep_cnn" (whose depth is `depth`). InvalidArgument, listing these,
// for another name.
absl::StatusOr<std::unique_ptr<nn::Layer>> MakeModel(const std::string& name, int64_t depth);

}  // namespace firn::examples

#endif  // FIRN_EXAMPLES_MODELS_H_
