#ifndef FIRN_BENCHMARKS_WORKLOAD_H_
#define FIRN_BENCHMARKS_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "benchmarks/hash_values.h"
#include "firn/nn/layer.h"

namespace firn::benchmarks {

// What a step is made of.
enum class StepKind : uint8_t {
  kTrain,          // loss, gradients and the optimizer's step
  kDifferentiate,  // loss and gradients
  kRun,            // the loss alone, without gradients
};

// What a Trainer does in its steps: a network, its batches and its loss. Each has its peer in
// peers/torch_models.py or torch_sequences.py, which computes the same. Thread-compatible.
class Workload {
 public:
  explicit Workload(std::unique_ptr<nn::Layer> net, StepKind kind = StepKind::kTrain)
      : net_(std::move(net)), kind_(kind) {}
  virtual ~Workload() = default;

  nn::Layer& net() const { return *net_; }
  StepKind kind() const { return kind_; }

  // The batch that step `step` reads, on the CPU; two batches take turns. `n`: the sequences or
  // images of a batch.
  virtual HashBatch Batch(int64_t step, int64_t n) const = 0;
  // The network learns the sizes that it has left open from its first input.
  virtual void Prepare(const Tensor& /*input*/) {}
  // How often a step calls Loss, and what precedes the first call. A frozen step captures the
  // calls, and not what precedes them.
  virtual int64_t calls() const { return 1; }
  virtual void BeginStep(const HashBatch& /*batch*/) {}
  virtual Tensor Loss(const Tensor& input, const Tensor& labels) = 0;

 private:
  const std::unique_ptr<nn::Layer> net_;
  const StepKind kind_;
};

// What a workload may be made for.
struct WorkloadSizes {
  int64_t depth = 10, batch = 64;
};

// The workload of that name. InvalidArgument, listing them, for another name.
absl::StatusOr<std::unique_ptr<Workload>> MakeWorkload(const std::string& name,
                                                       const WorkloadSizes& sizes);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_WORKLOAD_H_
