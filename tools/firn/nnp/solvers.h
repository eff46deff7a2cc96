#ifndef FIRN_TOOLS_FIRN_NNP_SOLVERS_H_
#define FIRN_TOOLS_FIRN_NNP_SOLVERS_H_

#include <memory>
#include <string>
#include <vector>

#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/optim/optimizer.h"
#include "firn/tensor/state_dict.h"

namespace firn::cli {

// What moves the parameters as a solver of NNabla's does, its weight decay included: that of the
// optimizer is added to gradients, but for solvers whose own it takes the place of. `at` is where
// the solver stands, in messages. Throws firn::Error, InvalidArgument, naming the field, for types
// that NNabla 1.39 does not have and numbers that make no sense.
std::unique_ptr<optim::Optimizer> SolverOf(const io::nnabla::Solver& solver, const std::string& at,
                                           const optim::ParameterList& parameters);

// States of an optimizer that SolverOf made, as files of NNabla's have them, and back.
std::vector<io::nnabla::SolverState> StatesOf(const optim::Optimizer& optimizer,
                                              const std::string& solver);
void LoadStates(optim::Optimizer& optimizer, const std::string& solver, const std::string& at,
                const std::vector<io::nnabla::SolverState>& states);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_SOLVERS_H_
