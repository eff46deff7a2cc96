#ifndef FIRN_TOOLS_FIRN_NNP_TRAINER_H_
#define FIRN_TOOLS_FIRN_NNP_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/nnabla_training/nnabla_training.h"
#include "firn/nn/module.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/optimizer.h"
#include "firn/tensor/state_dict.h"
#include "tools/firn/train/ranks.h"

namespace firn::cli {

TensorList MeansOf(const TensorList& losses);
double SumOf(const TensorList& means);

// An optimizer of the file with the solver of its parameters. With several processes, gradients are
// the mean of all.
class Trainer {
 public:
  // `at` names the optimizer in errors. All ranks call it.
  Trainer(const io::NnablaOptimizer& description, const StateDict& state, const std::string& at,
          const Ranks& ranks);

  const io::NnablaOptimizer& description() const { return description_; }
  optim::Optimizer& optimizer() { return *optimizer_; }

  bool Takes(int64_t iteration) const;
  // The sum of the losses' means, before the step. Parameters of other optimizers get no gradients
  // meanwhile.
  double Step(int64_t iteration, const TensorList& inputs);

 private:
  double StepOwn(int64_t iteration, const TensorList& inputs);
  TensorList Run(absl::Span<const Tensor> inputs, bool first, bool steps);

  const io::NnablaOptimizer& description_;
  std::vector<Tensor> others_;  // parameters of other optimizers
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::function<double(int64_t)> rate_;
  std::unique_ptr<nn::Module> moved_;  // null: one process alone
  std::unique_ptr<nn::parallel::DataParallel> parallel_;
  std::optional<StaticGraph> graph_;
};

// Tensors that no optimizer moves: statistics of batch norms, which each process has for itself,
// and constants.
class Fixed {
 public:
  // From now on all ranks, which call it, have what the first has.
  Fixed(const StateDict& state, const Ranks& ranks);
  // Gives all ranks, which call it, what the first has.
  void Share();

 private:
  std::unique_ptr<nn::Module> tensors_;  // null: one process alone
  std::unique_ptr<nn::parallel::DataParallel> parallel_;
};

// The mean of an epoch's costs as NNabla counts them: a loss is taken up when the next optimizer
// that runs begins, and added to the epoch's by the first one of an iteration, so that with several
// optimizers the first iteration counts once more.
class Cost {
 public:
  void BeforeOptimizer();
  void AfterOptimizer(double loss) { waiting_ = loss; }
  void BeginIteration() { first_ = true; }
  double EndEpoch();
  bool IsFinite() const;

 private:
  void Count();

  std::optional<double> waiting_;
  double sum_ = 0, total_ = 0;
  int64_t count_ = 0;
  bool first_ = true;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_TRAINER_H_
