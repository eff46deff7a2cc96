// Optimizers that step in each iteration do it as one graph; those that sum gradients run operation
// by operation. If there are several processes, all go through the same iterations.
#include "tools/firn/nnp/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_replace.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/ops.h"
#include "tools/firn/nnp/schedules.h"
#include "tools/firn/nnp/solvers.h"

namespace firn::cli {

TensorList MeansOf(const TensorList& losses) {
  TensorList means;
  for (const Tensor& loss : losses) means.push_back(Mean(loss));
  return means;
}

double SumOf(const TensorList& means) {
  double sum = 0;
  for (const Tensor& mean : means) sum += mean.Item();
  return sum;
}

namespace {

// The tensors of a file as DataParallel takes them. Names of modules hold no dots, and those of the
// file may hold slashes beside them ("a%2Fb" of an .nnp): different names stay different, and are
// those of the .nnp.
struct Tensors : nn::Module {
  void Add(const std::string& name, const Tensor& tensor) {
    std::string own = absl::StrReplaceAll(name, {{".", "/"}, {"/", "%2F"}, {"%", "%25"}});
    if (own.empty()) own = "%";
    if (tensor.requires_grad()) {
      AddParameter(own, tensor);
    } else {
      AddBuffer(own, tensor);
    }
  }
};

}  // namespace

Trainer::Trainer(const io::NnablaOptimizer& description, const StateDict& state,
                 const std::string& at, const Ranks& ranks)
    : description_(description) {
  std::vector<NamedTensor> moved;
  for (const auto& [name, tensor] : state) {
    if (!tensor.requires_grad()) continue;
    const bool own = std::ranges::binary_search(description.parameters, name);
    if (own) {
      moved.push_back({name, tensor});
    } else {
      others_.push_back(tensor);
    }
  }
  optimizer_ = SolverOf(description.solver, at, moved);
  rate_ = ScheduleOf(description.solver, at, optimizer_->lr());
  if (!ranks.several()) return;
  auto tensors = std::make_unique<Tensors>();
  for (const NamedTensor& p : moved) tensors->Add(p.name, p.tensor);
  moved_ = std::move(tensors);
  parallel_ = std::make_unique<nn::parallel::DataParallel>(*moved_, ranks.world());
}

bool Trainer::Takes(int64_t iteration) const {
  const int64_t from_1 = iteration + 1;
  return from_1 >= description_.start_iter &&
         (description_.end_iter == 0 || from_1 <= description_.end_iter);
}

double Trainer::Step(int64_t iteration, const TensorList& inputs) {
  for (Tensor& other : others_) other.SetRequiresGrad(false);
  const double loss = StepOwn(iteration, inputs);
  for (Tensor& other : others_) other.SetRequiresGrad();
  return loss;
}

double Trainer::StepOwn(int64_t iteration, const TensorList& inputs) {
  const int64_t place = iteration % description_.update_interval;
  const bool steps = place == description_.update_interval - 1;
  if (steps) optimizer_->SetLr(rate_(iteration));
  if (description_.update_interval > 1) {
    if (parallel_ == nullptr || steps) return SumOf(Run(inputs, place == 0, steps));
    const nn::parallel::NoSyncScope own = parallel_->NoSync();
    return SumOf(Run(inputs, place == 0, steps));
  }
  if (graph_) return SumOf(graph_->Call(inputs));
  Captured captured =
      Capture([&](absl::Span<const Tensor> in) { return Run(in, true, true); }, inputs);
  graph_ = io::ValueOrRaise(StaticGraph::Compile(std::move(captured.graph)), "nnp");
  return SumOf(captured.outputs);
}

TensorList Trainer::Run(absl::Span<const Tensor> inputs, bool first, bool steps) {
  const TensorList means = MeansOf(description_.network.Call(inputs));
  if (first) optimizer_->ZeroGrad();
  Tensor loss = means[0];
  for (size_t i = 1; i < means.size(); ++i) loss = Add(loss, means[i]);
  loss.Backward();
  if (steps) optimizer_->Step();
  TensorList detached;
  for (const Tensor& mean : means) detached.push_back(mean.Detach());
  return detached;
}

Fixed::Fixed(const StateDict& state, const Ranks& ranks) {
  if (!ranks.several()) return;
  auto tensors = std::make_unique<Tensors>();
  for (const auto& [name, tensor] : state) {
    if (!tensor.requires_grad()) tensors->Add(name, tensor);
  }
  tensors_ = std::move(tensors);
  parallel_ = std::make_unique<nn::parallel::DataParallel>(*tensors_, ranks.world());
}

void Fixed::Share() {
  if (parallel_ != nullptr) parallel_->BroadcastBuffers();
}

void Cost::BeforeOptimizer() {
  if (!waiting_) return;
  sum_ += *waiting_;
  if (std::exchange(first_, false)) Count();
}

double Cost::EndEpoch() {
  if (waiting_) {
    sum_ += *waiting_;
    Count();
    waiting_.reset();
  }
  const double mean = count_ == 0 ? 0 : total_ / static_cast<double>(count_);
  total_ = 0;
  count_ = 0;
  return mean;
}

bool Cost::IsFinite() const {
  return std::isfinite(total_) && std::isfinite(sum_) && std::isfinite(waiting_.value_or(0));
}

void Cost::Count() {
  total_ += std::exchange(sum_, 0);
  ++count_;
}

}  // namespace firn::cli
