#ifndef FIRN_BENCHMARKS_TRAINER_H_
#define FIRN_BENCHMARKS_TRAINER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "autograd/graph/static_graph.h"
#include "benchmarks/hash_values.h"
#include "nn/layer.h"
#include "optim/optimizer.h"

namespace firn::benchmarks {

struct TrainerOptions {
  std::string workload;  // a model of examples/models.h
  int64_t depth = 10;    // of deep_cnn
  int64_t batch = 64;
  std::string optimizer = "adam";  // examples/optimizers.h, with its own learning rate
  DType dtype = DType::kF32;       // of parameters and inputs
  bool frozen = false;             // the first step is captured, the later ones run its graph
};

// A model that learns two batches, with parameters and data of hash_values.h: what compare.py times
// in each framework. Thread-compatible.
class Trainer {
 public:
  // InvalidArgument for names that are not known and sizes below 1.
  static absl::StatusOr<std::unique_ptr<Trainer>> Make(const TrainerOptions& options);

  // One step as a user's loop does it: clears gradients, forward, loss, backward, update. Returns
  // the loss.
  Tensor Step();
  // The graph of the frozen step, null before the first one and where steps are not frozen.
  const StaticGraph* graph() const { return graph_.has_value() ? &*graph_ : nullptr; }

  nn::Layer& net() { return *net_; }

 private:
  Trainer(std::unique_ptr<nn::Layer> net, std::unique_ptr<optim::Optimizer> optimizer,
          const TrainerOptions& options, const Shape& input_shape);
  Tensor TrainOn(const Tensor& input, const Tensor& labels);
  Tensor CaptureStep(const HashBatch& batch);

  std::unique_ptr<nn::Layer> net_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::array<HashBatch, 2> batches_;
  size_t steps_ = 0;
  bool frozen_;
  std::optional<StaticGraph> graph_;
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_TRAINER_H_
