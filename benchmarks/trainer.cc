// The models learn the size of their input from a first forward in eval mode, which changes no
// running statistics; only then are the parameters there to be filled.
#include "benchmarks/trainer.h"

#include <chrono>
#include <utility>

#include "benchmarks/changing_cnn.h"
#include "benchmarks/resnet18.h"
#include "examples/models.h"
#include "examples/optimizers.h"
#include "firn/autograd/graph/capture.h"
#include "firn/device/status_macros.h"
#include "firn/io/dataset.h"
#include "firn/io/digits.h"
#include "firn/nn/summary.h"
#include "firn/tensor/autocast.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/loss/cross_entropy.h"

namespace firn::benchmarks {
namespace {

constexpr uint64_t kDigitsSeed = 1;  // of their order
// A frozen graph is recorded on a CUDA device for the addresses of its inputs, of which it keeps a
// handful.
constexpr size_t kRecordedBatches = 4;

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// As peers/torch_models.py says for each model.
Shape HashShapeOf(const std::string& workload) {
  if (workload == "mlp") return {64};
  if (workload == "deep_cnn" || workload == "changing_cnn") return {1, 8, 8};
  if (workload == "resnet18") return {3, 32, 32};
  return {1, 28, 28};
}

absl::StatusOr<std::unique_ptr<nn::Layer>> MakeNet(const TrainerOptions& options) {
  if (options.workload == "resnet18") return std::make_unique<Resnet18>();
  if (options.workload != "changing_cnn") {
    return examples::MakeModel(options.workload, options.depth);
  }
  FIRN_RETURN_IF(options.frozen, InvalidArgument("changing_cnn is another network in every step:"
                                                 " only the dynamic mode can run it"));
  return std::make_unique<ChangingCnn>(ChangingCnnOptions{.depth = options.depth});
}

absl::StatusOr<std::vector<HashBatch>> DigitBatches(int64_t batch) {
  const io::DatasetPtr digits = io::Digits({.part = io::DigitsOptions::Part::kTrain});
  FIRN_RETURN_IF(batch > digits->size(), InvalidArgument("batch is ", batch, ", there are only ",
                                                         digits->size(), " digits"));
  const io::DatasetPtr whole = io::Batch(io::Shuffle(digits, kDigitsSeed), batch, true);
  std::vector<HashBatch> batches;
  for (int64_t i = 0; i < whole->size(); ++i) {
    auto [input, labels] = whole->Get(i);
    batches.push_back({std::move(input), std::move(labels)});
  }
  return batches;
}

absl::StatusOr<std::vector<HashBatch>> BatchesFor(const TrainerOptions& options) {
  if (options.data == TrainerData::kDigits) return DigitBatches(options.batch);
  const Shape shape = HashShapeOf(options.workload);
  return std::vector<HashBatch>{BatchOfStep(0, options.batch, shape),
                                BatchOfStep(1, options.batch, shape)};
}

Shape ShapeOfOne(const Tensor& batch) {
  std::vector<int64_t> sizes(batch.shape().begin(), batch.shape().end());
  sizes[0] = 1;
  return Shape(sizes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Make(const TrainerOptions& options) {
  FIRN_RETURN_IF(options.batch < 1, InvalidArgument("batch is ", options.batch, " (want >= 1)"));
  FIRN_RETURN_IF(options.depth < 0, InvalidArgument("depth is ", options.depth, " (want >= 0)"));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<nn::Layer> net, MakeNet(options));
  FIRN_ASSIGN_OR_RETURN(std::vector<HashBatch> batches, BatchesFor(options));
  nn::Summary(*net, ShapeOfOne(batches[0].input));
  FillParameters(*net);
  net->To(options.dtype);
  net->To(options.device);
  for (HashBatch& b : batches) {
    b.input = b.input.To(options.dtype).To(options.device);
    b.labels = b.labels.To(options.device);
  }
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<optim::Optimizer> optimizer,
                        examples::MakeOptimizer(options.optimizer, net->named_parameters()));
  return std::unique_ptr<Trainer>(
      new Trainer(std::move(net), std::move(optimizer), std::move(batches), options));
}

Trainer::Trainer(std::unique_ptr<nn::Layer> net, std::unique_ptr<optim::Optimizer> optimizer,
                 std::vector<HashBatch> batches, const TrainerOptions& options)
    : net_(std::move(net)),
      optimizer_(std::move(optimizer)),
      batches_(std::move(batches)),
      frozen_(options.frozen),
      autocast_(options.autocast) {
  net_->Train();
  if (frozen_ && options.device.is_cuda() && batches_.size() > kRecordedBatches) {
    shared_ = HashBatch{batches_[0].input.Clone(), batches_[0].labels.Clone()};
  }
}

const HashBatch& Trainer::NextBatch() {
  const HashBatch& batch = batches_[steps_++ % batches_.size()];
  if (!shared_.has_value()) return batch;
  shared_->input.CopyFrom(batch.input);
  shared_->labels.CopyFrom(batch.labels);
  return *shared_;
}

Tensor Trainer::TrainOn(const Tensor& input, const Tensor& labels) {
  optimizer_->ZeroGrad();
  Tensor loss;
  {
    const AutocastScope autocast(autocast_);
    loss = CrossEntropy((*net_)(input), labels);
  }
  loss.Backward();
  optimizer_->Step();
  return loss;
}

Tensor Trainer::CaptureStep(const HashBatch& batch) {
  const Tensor in[] = {batch.input, batch.labels};
  auto start = std::chrono::steady_clock::now();
  Captured captured = Capture(
      [this](absl::Span<const Tensor> given) { return TensorList{TrainOn(given[0], given[1])}; },
      in);
  capture_ms_ = MillisecondsSince(start);
  start = std::chrono::steady_clock::now();
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(captured.graph));
  RaiseIfError(graph.status(), "trainer");
  compile_ms_ = MillisecondsSince(start);
  graph_ = *std::move(graph);
  return captured.outputs[0];
}

Tensor Trainer::Step() {
  const HashBatch& batch = NextBatch();
  if (graph_.has_value()) return (*graph_)(batch.input, batch.labels);
  return frozen_ ? CaptureStep(batch) : TrainOn(batch.input, batch.labels);
}

}  // namespace firn::benchmarks
