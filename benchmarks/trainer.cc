// The models learn the size of their input from a first forward in eval mode, which changes no
// running statistics; only then are the parameters there to be filled.
#include "benchmarks/trainer.h"

#include <utility>

#include "device/status_macros.h"
#include "examples/models.h"
#include "examples/optimizers.h"
#include "nn/summary.h"
#include "tensor/error.h"
#include "tensor/ops/cross_entropy.h"

namespace firn::benchmarks {
namespace {

// As peers/torch_models.py says for each model.
Shape InputShapeOf(const std::string& workload) {
  if (workload == "mlp") return {64};
  if (workload == "deep_cnn") return {1, 8, 8};
  return {1, 28, 28};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Make(const TrainerOptions& options) {
  FIRN_RETURN_IF(options.batch < 1, InvalidArgument("batch is ", options.batch, " (want >= 1)"));
  FIRN_RETURN_IF(options.depth < 0, InvalidArgument("depth is ", options.depth, " (want >= 0)"));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<nn::Layer> net,
                        examples::MakeModel(options.workload, options.depth));
  const Shape input_shape = InputShapeOf(options.workload);
  nn::Summary(*net, BatchOfStep(0, 1, input_shape).input.shape());
  FillParameters(*net);
  net->To(options.dtype);
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<optim::Optimizer> optimizer,
                        examples::MakeOptimizer(options.optimizer, net->named_parameters()));
  return std::unique_ptr<Trainer>(
      new Trainer(std::move(net), std::move(optimizer), options, input_shape));
}

Trainer::Trainer(std::unique_ptr<nn::Layer> net, std::unique_ptr<optim::Optimizer> optimizer,
                 const TrainerOptions& options, const Shape& input_shape)
    : net_(std::move(net)), optimizer_(std::move(optimizer)), frozen_(options.frozen) {
  net_->Train();
  for (size_t i = 0; i < batches_.size(); ++i) {
    batches_[i] = BatchOfStep(static_cast<int64_t>(i), options.batch, input_shape);
    batches_[i].input = batches_[i].input.To(options.dtype);
  }
}

Tensor Trainer::TrainOn(const Tensor& input, const Tensor& labels) {
  optimizer_->ZeroGrad();
  Tensor loss = CrossEntropy((*net_)(input), labels);
  loss.Backward();
  optimizer_->Step();
  return loss;
}

Tensor Trainer::CaptureStep(const HashBatch& batch) {
  const Tensor in[] = {batch.input, batch.labels};
  Captured captured = Capture(
      [this](absl::Span<const Tensor> given) { return TensorList{TrainOn(given[0], given[1])}; },
      in);
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(captured.graph));
  RaiseIfError(graph.status(), "trainer");
  graph_ = *std::move(graph);
  return captured.outputs[0];
}

Tensor Trainer::Step() {
  const HashBatch& batch = batches_[steps_++ % batches_.size()];
  if (graph_.has_value()) return (*graph_)(batch.input, batch.labels);
  return frozen_ ? CaptureStep(batch) : TrainOn(batch.input, batch.labels);
}

}  // namespace firn::benchmarks
