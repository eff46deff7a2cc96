#ifndef FIRN_OPTIM_WEIGHT_AVERAGE_H_
#define FIRN_OPTIM_WEIGHT_AVERAGE_H_

#include <memory>
#include <vector>

#include "firn/optim/optimizer.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

struct WeightAverageOptions {
  // The decay of the average that is kept at an update: average = decay average + (1 - decay)
  // parameter (an exponential moving average). 0: the mean of all updates (stochastic weight
  // averaging, Izmailov et al., 2018).
  double decay = 0.999;
};

// A running average of parameters, which is often better than the parameters themselves.
//
//   optim::WeightAverage average(net.named_parameters());
//   ... sgd.Step(); average.Update(); ...
//   {
//     const optim::WeightAverage::Scope averaged(average);   // the network has the averages here
//     Validate(net);
//   }
//
// The first update takes the parameters as they are. Update can be captured behind the optimizer's
// step. Running statistics of batch norms are no parameters: run some batches in training mode
// within a Scope before validating a mean of weights. Thread-compatible.
//
// A parameter that a module gives up later (nn::parametrize::Register with several originals,
// ShareParameter) has no average that means anything: Update and Swap throw kFailedPrecondition.
class WeightAverage {
 public:
  // Throws kInvalidArgument unless 0 <= decay < 1, for parameters that are undefined or not
  // floating, and for a name that occurs twice.
  explicit WeightAverage(const ParameterList& parameters, const WeightAverageOptions& options = {});

  // Call it after a step of the optimizer.
  void Update();
  // Exchanges the averages and the parameters; a second call puts the parameters back. Throws
  // kFailedPrecondition before the first update, and inside a captured function.
  void Swap();

  // Swaps, and swaps back.
  class Scope {
   public:
    [[nodiscard]] explicit Scope(WeightAverage& average) : average_(average) { average_.Swap(); }
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WeightAverage& average_;
  };

  // "updates" (i64, 0-d) and the averages by the parameters' names; shares their elements.
  StateDict state_dict() const;
  // Averages are written in place; an empty state dict, as before the first update, starts anew.
  // Parameters that are pending may get any size later: the next Update throws unless it is the
  // size of the loaded average. Throws, and changes nothing, unless names and shapes agree.
  void LoadStateDict(const StateDict& state);

 private:
  // Throws if a module has replaced one of these parameters.
  void CheckParts() const;
  // Makes missing averages. Throws for pending parameters and other shapes.
  void Prepare();
  Device FirstDevice() const;

  WeightAverageOptions options_;
  std::vector<NamedTensor> parameters_;
  std::vector<std::shared_ptr<const bool>> replaced_;  // of each (tensor/owner.h)
  std::vector<Tensor> averages_;                       // f32, or f64 for parameters in f64
  std::vector<Tensor> own_;  // the parameters' own values, while the averages stand there
  Tensor updates_;           // i64, 0-d
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_WEIGHT_AVERAGE_H_
