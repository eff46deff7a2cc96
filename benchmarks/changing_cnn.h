#ifndef FIRN_BENCHMARKS_CHANGING_CNN_H_
#define FIRN_BENCHMARKS_CHANGING_CNN_H_

#include <cstdint>
#include <random>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"

namespace firn::benchmarks {

struct ChangingCnnOptions {
  int64_t depth = 10;  // of the blocks with 128 channels
  double drop = 0.2;   // probability of leaving a block out
  uint64_t seed = 1;
};

// examples::DeepCnn, whose blocks from 128 to 128 channels are each left out of a step with
// probability `drop` in training mode: so the network differs in every step, which a graph cannot
// do. x: [n, 1, h, w] with h, w >= 2      y: [n, 10]
class ChangingCnn final : public nn::Layer {
 public:
  using Options = ChangingCnnOptions;
  // Throws when depth is negative.
  explicit ChangingCnn(const Options& options = {});
  const Options& options() const { return options_; }
  // The number of blocks that the last forward pass left out.
  int64_t dropped() const { return dropped_; }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  bool Drops(size_t block);

  const Options options_;
  std::mt19937_64 random_;
  int64_t dropped_ = 0;
  nn::ModuleList<nn::Conv2d>& convs_ = Add<nn::ModuleList<nn::Conv2d>>("convs");
  nn::ModuleList<nn::BatchNorm2d>& bns_ = Add<nn::ModuleList<nn::BatchNorm2d>>("bns");
  nn::Linear& fc1_ = Add<nn::Linear>("fc1", {.out = 1024});
  nn::Linear& fc2_ = Add<nn::Linear>("fc2", {.in = 1024, .out = 10});
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_CHANGING_CNN_H_
