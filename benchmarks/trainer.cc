// A network has parameters to fill only after it has learned the size of its input.
#include "benchmarks/trainer.h"

#include <chrono>
#include <utility>

#include "examples/optimizers.h"
#include "firn/autograd/graph/capture.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/dataset.h"
#include "firn/io/data/digits.h"
#include "firn/tensor/autocast.h"
#include "firn/tensor/error.h"

namespace firn::benchmarks {
namespace {

constexpr uint64_t kDigitsSeed = 1;  // of their order
// On a CUDA device a frozen graph is recorded for the addresses of its inputs, and keeps a handful
// of such recordings.
constexpr size_t kRecordedBatches = 4;

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
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

absl::StatusOr<std::vector<HashBatch>> BatchesFor(const Workload& workload,
                                                  const TrainerOptions& options) {
  if (options.data == TrainerData::kDigits) return DigitBatches(options.batch);
  return std::vector<HashBatch>{workload.Batch(0, options.batch), workload.Batch(1, options.batch)};
}

absl::StatusOr<std::unique_ptr<Workload>> WorkloadFor(const TrainerOptions& o) {
  FIRN_RETURN_IF(o.frozen && o.workload == "changing_cnn",
                 InvalidArgument("changing_cnn is another network in every step:"
                                 " only the dynamic mode can run it"));
  return MakeWorkload(o.workload, {.depth = o.depth, .batch = o.batch});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Make(const TrainerOptions& options) {
  FIRN_RETURN_IF(options.batch < 1, InvalidArgument("batch is ", options.batch, " (want >= 1)"));
  FIRN_RETURN_IF(options.depth < 0, InvalidArgument("depth is ", options.depth, " (want >= 0)"));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Workload> workload, WorkloadFor(options));
  FIRN_ASSIGN_OR_RETURN(std::vector<HashBatch> batches, BatchesFor(*workload, options));
  workload->Prepare(batches[0].input);
  nn::Layer& net = workload->net();
  FillParameters(net);
  net.To(options.dtype);
  net.To(options.device);
  for (HashBatch& b : batches) {
    if (IsFloating(b.input.dtype())) b.input = b.input.To(options.dtype);
    b.input = b.input.To(options.device);
    b.labels = b.labels.To(options.device);
  }
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<optim::Optimizer> optimizer,
                        examples::MakeOptimizer(options.optimizer, net.named_parameters()));
  return std::unique_ptr<Trainer>(
      new Trainer(std::move(workload), std::move(optimizer), std::move(batches), options));
}

Trainer::Trainer(std::unique_ptr<Workload> workload, std::unique_ptr<optim::Optimizer> optimizer,
                 std::vector<HashBatch> batches, const TrainerOptions& options)
    : workload_(std::move(workload)),
      optimizer_(std::move(optimizer)),
      batches_(std::move(batches)),
      frozen_(options.frozen),
      autocast_(options.autocast) {
  net().Train();
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

Tensor Trainer::LossOf(const Tensor& input, const Tensor& labels) {
  const AutocastScope autocast(autocast_);
  return workload_->Loss(input, labels);
}

Tensor Trainer::TrainOn(const Tensor& input, const Tensor& labels) {
  if (workload_->kind() == StepKind::kRun) {
    const NoGradScope no_grad;
    return LossOf(input, labels);
  }
  optimizer_->ZeroGrad();
  Tensor loss = LossOf(input, labels);
  loss.Backward();
  if (workload_->kind() == StepKind::kTrain) optimizer_->Step();
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

Tensor Trainer::Run(const HashBatch& batch) {
  if (graph_.has_value()) return (*graph_)(batch.input, batch.labels);
  return frozen_ ? CaptureStep(batch) : TrainOn(batch.input, batch.labels);
}

Tensor Trainer::Step() {
  const HashBatch& batch = NextBatch();
  workload_->BeginStep(batch);
  Tensor loss;
  for (int64_t i = 0; i < workload_->calls(); ++i) loss = Run(batch);
  return loss;
}

}  // namespace firn::benchmarks
