#ifndef FIRN_IO_NNABLA_NNABLA_SOLVER_H_
#define FIRN_IO_NNABLA_NNABLA_SOLVER_H_

// Files of NNabla's solver.save_states ("states.h5"), from and to state dicts of optimizers:
//
//   optim::Adam adam(net.named_parameters(), {.semantics = optim::Semantics::kNNabla});
//   adam.LoadStateDict(io::LoadNnablaSolver("states.h5", adam.state_dict(), {.solver = "Adam"}));
//   io::SaveNnablaSolver("states.h5", adam.state_dict(), {.solver = "Adam"});
//
// Such a file has a group for each parameter, with an attribute `index`, and in it the count of
// steps `t` (i64, 0-d) and the solver's states (f32): /conv1/conv/W/{t,mean,var}.

#include <functional>
#include <string>
#include <string_view>

#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct NnablaSolverOptions {
  // The solver's class there: Sgd, SgdW, Momentum, Nesterov, Adam, AdamW, Adamax, AMSGRAD,
  // AdaBound, AMSBound, AdaBelief, Adagrad, Adadelta, RMSprop, RMSpropGraves, Lamb, Lars, Lion.
  std::string solver;
  // Maps parameters' names (with dots for NNabla's slashes): from the file's to the optimizer's in
  // loading, the other way in saving. Empty: names stay.
  std::function<std::string(std::string_view name)> rename = {};
  LoadLimits limits = {};  // in loading
};

// Writes the states and counts of steps of an optimizer's state dict, as SaveHdf5 writes files.
// Options are not written, since such files have none. States get NNabla's names (exp_avg is mean,
// ...). A velocity is scaled if NNabla's contains the learning rate and the optimizer's does not;
// NNabla's Nesterov and RMSpropGraves keep it with the opposite sign. AdaBelief's s_max exists only
// with amsgrad. Throws firn::Error: kInvalidArgument for an unknown solver, for states that it does
// not have or that are missing, and for a velocity when groups of the optimizer differ in the rate;
// what SaveHdf5 says.
void SaveNnablaSolver(const std::string& path, const StateDict& optimizer,
                      const NnablaSolverOptions& options);

// The states that SaveNnablaSolver writes, by parameter and state: "conv1.conv.W.mean". Throws the
// same.
StateDict NnablaSolverStates(const StateDict& optimizer, const NnablaSolverOptions& options);

// The state dict that goes on from the file: the options ("groups.0.lr", ...) of `optimizer`, the
// state dict that it has now, and the states of the file. Elements stay as they are: a program that
// transposes a parameter of NNabla's for a layer must do the same to its states. Throws
// firn::Error: kDataLoss, naming file and dataset, for a damaged file or one without exactly this
// solver's states; as SaveNnablaSolver; what LoadHdf5 says.
StateDict LoadNnablaSolver(const std::string& path, const StateDict& optimizer,
                           const NnablaSolverOptions& options);

// The same from the file's contents, `states` as NnablaSolverStates gives them; `source` stands for
// the file in messages.
StateDict FromNnablaSolverStates(const StateDict& states, const std::string& source,
                                 const StateDict& optimizer, const NnablaSolverOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_NNABLA_SOLVER_H_
