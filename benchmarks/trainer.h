#ifndef FIRN_BENCHMARKS_TRAINER_H_
#define FIRN_BENCHMARKS_TRAINER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/hash_values.h"
#include "benchmarks/workload.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/device.h"
#include "firn/nn/layer.h"
#include "firn/optim/optimizer.h"

namespace firn::benchmarks {

// What a Trainer learns.
enum class TrainerData : uint8_t {
  kHash,    // the two batches of the workload
  kDigits,  // all whole batches of the bundled training digits, 8x8 pixels, in a fixed order
};

struct TrainerOptions {
  std::string workload;  // workload.h
  int64_t depth = 10;    // of deep_cnn and changing_cnn
  int64_t batch = 64;
  std::string optimizer = "adam";  // examples/optimizers.h, with its own learning rate
  DType dtype = DType::kF32;       // of parameters and inputs
  bool frozen = false;             // the first step is captured, the later ones run its graph
  TrainerData data = TrainerData::kHash;
  Device device = Device::Cpu();  // of parameters and batches
  DType autocast = DType::kF32;   // kBF16, kF16: forward and loss in an AutocastScope
};

// A model that learns a few batches again and again, its parameters from hash_values.h: what
// compare.py times in each framework. Thread-compatible.
class Trainer {
 public:
  // InvalidArgument for names that are not known, sizes that make no batch, and changing_cnn
  // frozen, which would not change any more.
  static absl::StatusOr<std::unique_ptr<Trainer>> Make(const TrainerOptions& options);

  // One step as a user's loop does it: clears gradients, forward, loss, backward, update, or those
  // of them that the workload's steps are made of. Returns the loss, which a CUDA device may not
  // have computed yet: reading it waits.
  Tensor Step();
  // The graph of the frozen step; null before the first step, and if steps are not frozen.
  const StaticGraph* graph() const { return graph_.has_value() ? &*graph_ : nullptr; }
  // The time of the first frozen step: of the recorded step, and of the work after it.
  double capture_ms() const { return capture_ms_; }
  double compile_ms() const { return compile_ms_; }

  nn::Layer& net() { return workload_->net(); }

 private:
  Trainer(std::unique_ptr<Workload> workload, std::unique_ptr<optim::Optimizer> optimizer,
          std::vector<HashBatch> batches, const TrainerOptions& options);
  const HashBatch& NextBatch();
  Tensor TrainOn(const Tensor& input, const Tensor& labels);
  Tensor LossOf(const Tensor& input, const Tensor& labels);
  Tensor CaptureStep(const HashBatch& batch);
  Tensor Run(const HashBatch& batch);

  std::unique_ptr<Workload> workload_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::vector<HashBatch> batches_;
  std::optional<HashBatch> shared_;  // where batches take turns
  size_t steps_ = 0;
  const bool frozen_;
  const DType autocast_;
  std::optional<StaticGraph> graph_;
  double capture_ms_ = 0, compile_ms_ = 0;
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_TRAINER_H_
