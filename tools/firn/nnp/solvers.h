#ifndef FIRN_TOOLS_FIRN_NNP_SOLVERS_H_
#define FIRN_TOOLS_FIRN_NNP_SOLVERS_H_

#include <memory>
#include <string>
#include <vector>

#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/optim/optimizer.h"
#include "firn/tensor/state_dict.h"

namespace firn::cli {

// The optimizer that moves parameters as a solver of NNabla does, weight decay included: the file's
// weight decay is added to gradients, except for solvers that have their own, which it replaces.
// `at` is the place of the solver, for messages. Throws firn::Error, InvalidArgument, naming the
// field, for types that NNabla 1.39 does not have and numbers that make no sense.
std::unique_ptr<optim::Optimizer> SolverOf(const io::nnabla::Solver& solver, const std::string& at,
                                           const optim::ParameterList& parameters);

// Converts states of an optimizer that SolverOf made to those in files of NNabla, and back.
std::vector<io::nnabla::SolverState> StatesOf(const optim::Optimizer& optimizer,
                                              const std::string& solver);
void LoadStates(optim::Optimizer& optimizer, const std::string& solver, const std::string& at,
                const std::vector<io::nnabla::SolverState>& states);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_SOLVERS_H_
