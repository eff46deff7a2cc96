// NNabla's loader (nnabla.utils.load of 1.39) as tables: a solver is an optimizer of Firn's with
// the options that docs/nnabla.md names, a schedule is a formula.
#include "tools/firn/nnp/solvers.h"

#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla/nnabla_solver.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;
using inner::internal::JsonString;
using optim::ParameterList;
using optim::Semantics;

// Arguments of a solver; those that the file leaves out are 0.
class Arguments {
 public:
  Arguments(const nnabla::Solver& solver, const std::string& at) : solver_(solver), at_(at) {}

  double operator()(const char* name) const {
    const nnabla::Argument* const argument = Find(name);
    if (argument == nullptr) return 0;
    const double value = argument->value.index() == kFloat ? std::get<kFloat>(argument->value)
                                                           : std::get<double>(argument->value);
    if (!std::isfinite(value)) {
      RaiseStatus(InvalidArgument(at_, ", solver ", solver_.type, ", ", name,
                                  ": expected a finite number, got ", value),
                  "nnp");
    }
    return value;
  }
  bool Flag(const char* name) const {
    const nnabla::Argument* const argument = Find(name);
    return argument != nullptr && std::get<bool>(argument->value);
  }
  // Added to gradients.
  double decay() const { return solver_.weight_decay; }
  // The decay of a solver that has its own: for this step the optimizer's, if it says one.
  double Decay(const char* own) const { return decay() > 0 ? decay() : (*this)(own); }

 private:
  static constexpr size_t kFloat = 2;

  const nnabla::Argument* Find(const char* name) const {
    for (const nnabla::Argument& argument : solver_.arguments) {
      if (argument.name == name) return &argument;
    }
    return nullptr;
  }

  const nnabla::Solver& solver_;
  const std::string& at_;
};

using Made = std::unique_ptr<optim::Optimizer>;
using Make = Made (*)(const Arguments& a, const ParameterList& parameters);

template <class O>
Made New(const ParameterList& parameters, const typename O::Options& options) {
  return std::make_unique<O>(parameters, options);
}

struct Kind {
  const char* rate;  // the argument that is the learning rate
  Make make;
};

const std::map<std::string, Kind>& StepsOfGradients() {
  static const auto* const kinds = new std::map<std::string, Kind>{
      {"Sgd",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Sgd>(p, {.lr = a("lr"), .weight_decay = a.decay()});
        }}},
      {"SgdW",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::SgdW>(
              p, {.lr = a("lr"), .momentum = a("momentum"), .weight_decay = a.Decay("wd")});
        }}},
      {"Momentum",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Sgd>(p, {.lr = a("lr"),
                                     .momentum = a("momentum"),
                                     .weight_decay = a.decay(),
                                     .lr_in_velocity = true});
        }}},
      {"Nesterov",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Sgd>(p, {.lr = a("lr"),
                                     .momentum = a("momentum"),
                                     .weight_decay = a.decay(),
                                     .nesterov = true,
                                     .lr_in_velocity = true});
        }}},
      {"Lars",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Lars>(p, {.lr = a("lr"),
                                      .momentum = a("momentum"),
                                      .coefficient = a("coefficient"),
                                      .eps = a("eps"),
                                      .weight_decay = a.decay()});
        }}},
      {"Lion",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Lion>(
              p,
              {.lr = a("lr"), .beta1 = a("beta1"), .beta2 = a("beta2"), .weight_decay = a.decay()});
        }}},
      {"Adadelta",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adadelta>(
              p, {.lr = a("lr"), .rho = a("decay"), .eps = a("eps"), .weight_decay = a.decay()});
        }}},
      {"Adagrad",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adagrad>(p,
                                     {.lr = a("lr"), .weight_decay = a.decay(), .eps = a("eps")});
        }}},
      {"RMSprop",
       {"lr",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Rmsprop>(
              p, {.lr = a("lr"), .alpha = a("decay"), .eps = a("eps"), .weight_decay = a.decay()});
        }}},
      {"RMSpropGraves", {"lr", [](const Arguments& a, const ParameterList& p) {
                           return New<optim::RmspropGraves>(p, {.lr = a("lr"),
                                                                .alpha = a("decay"),
                                                                .momentum = a("momentum"),
                                                                .eps = a("eps"),
                                                                .weight_decay = a.decay()});
                         }}}};
  return *kinds;
}

// AMSGRAD and AMSBound have no bias correction, whatever the file says, as with NNabla's loader.
const std::map<std::string, Kind>& StepsOfAdam() {
  static const auto* const kinds = new std::map<std::string, Kind>{
      {"Adam",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adam>(p, {.lr = a("alpha"),
                                      .beta1 = a("beta1"),
                                      .beta2 = a("beta2"),
                                      .eps = a("eps"),
                                      .weight_decay = a.decay(),
                                      .semantics = Semantics::kNNabla});
        }}},
      {"AdamW",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::AdamW>(p, {.lr = a("alpha"),
                                       .beta1 = a("beta1"),
                                       .beta2 = a("beta2"),
                                       .eps = a("eps"),
                                       .weight_decay = a.Decay("wd"),
                                       .semantics = Semantics::kNNabla});
        }}},
      {"AMSGRAD",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adam>(p, {.lr = a("alpha"),
                                      .beta1 = a("beta1"),
                                      .beta2 = a("beta2"),
                                      .eps = a("eps"),
                                      .weight_decay = a.decay(),
                                      .amsgrad = true,
                                      .bias_correction = false,
                                      .semantics = Semantics::kNNabla});
        }}},
      {"Adamax",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adamax>(p, {.lr = a("alpha"),
                                        .beta1 = a("beta1"),
                                        .beta2 = a("beta2"),
                                        .eps = a("eps"),
                                        .weight_decay = a.decay(),
                                        .semantics = Semantics::kNNabla});
        }}},
      {"AdaBelief",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          const bool decouple = a.Flag("weight_decouple");
          return New<optim::Adabelief>(p, {.lr = a("alpha"),
                                           .beta1 = a("beta1"),
                                           .beta2 = a("beta2"),
                                           .eps = a("eps"),
                                           .weight_decay = decouple ? a.Decay("wd") : a.decay(),
                                           .amsgrad = a.Flag("amsgrad"),
                                           .weight_decouple = decouple,
                                           .fixed_decay = a.Flag("fixed_decay"),
                                           .rectify = a.Flag("rectify")});
        }}},
      {"AdaBound",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adabound>(p, {.lr = a("alpha"),
                                          .beta1 = a("beta1"),
                                          .beta2 = a("beta2"),
                                          .eps = a("eps"),
                                          .weight_decay = a.decay(),
                                          .final_lr = a("final_lr"),
                                          .gamma = a("gamma")});
        }}},
      {"AMSBound",
       {"alpha",
        [](const Arguments& a, const ParameterList& p) {
          return New<optim::Adabound>(p, {.lr = a("alpha"),
                                          .beta1 = a("beta1"),
                                          .beta2 = a("beta2"),
                                          .eps = a("eps"),
                                          .weight_decay = a.decay(),
                                          .final_lr = a("final_lr"),
                                          .gamma = a("gamma"),
                                          .amsbound = true,
                                          .bias_correction = false});
        }}},
      {"Lamb", {"eta", [](const Arguments& a, const ParameterList& p) {
                  return New<optim::Lamb>(p, {.lr = a("eta"),
                                              .beta1 = a("beta1"),
                                              .beta2 = a("beta2"),
                                              .gamma_l = a("gamma_l"),
                                              .gamma_u = a("gamma_u"),
                                              .eps = a("eps"),
                                              .weight_decay = a.decay(),
                                              .bias_correction = a.Flag("bias_correction")});
                }}}};
  return *kinds;
}

const Kind& KindOf(const nnabla::Solver& solver, const std::string& at) {
  std::vector<std::string> names;
  for (const auto* kinds : {&StepsOfGradients(), &StepsOfAdam()}) {
    const auto found = kinds->find(solver.type);
    if (found != kinds->end()) return found->second;
    for (const auto& [name, unused] : *kinds) names.push_back(name);
  }
  RaiseStatus(InvalidArgument(at, ", solver.type: expected one of ", absl::StrJoin(names, ", "),
                              ", got ", JsonString(solver.type)),
              "nnp");
}

[[noreturn]] void RefuseField(const std::string& at, const char* field, const char* expected,
                              double got) {
  RaiseStatus(InvalidArgument(at, ", solver.", field, ": expected ", expected, ", got ", got),
              "nnp");
}

}  // namespace

std::unique_ptr<optim::Optimizer> SolverOf(const nnabla::Solver& solver, const std::string& at,
                                           const ParameterList& parameters) {
  const Kind& kind = KindOf(solver, at);
  if (!(solver.weight_decay >= 0) || !std::isfinite(solver.weight_decay)) {
    RefuseField(at, "weight_decay", "a finite number of at least 0", solver.weight_decay);
  }
  const Arguments arguments(solver, at);
  arguments(kind.rate);
  try {
    return kind.make(arguments, parameters);
  } catch (const Error& error) {
    RaiseStatus(absl::Status(error.code(), absl::StrCat(at, ", solver ", solver.type, ": ",
                                                        std::string(error.what()))),
                "nnp");
  }
}

std::vector<nnabla::SolverState> StatesOf(const optim::Optimizer& optimizer,
                                          const std::string& solver) {
  const StateDict all = io::NnablaSolverStates(optimizer.state_dict(), {.solver = solver});
  std::vector<nnabla::SolverState> states;
  for (const auto& [name, tensor] : all) {
    const size_t dot = name.rfind('.');
    const std::string parameter = name.substr(0, dot), state = name.substr(dot + 1);
    if (states.empty() || states.back().parameter != parameter) {
      states.push_back({.parameter = parameter, .t = 0, .state = {}});
    }
    if (state == "t") {
      states.back().t = static_cast<uint32_t>(tensor.Item<int64_t>());
      continue;
    }
    states.back().state.push_back({.name = state,
                                   .shape = {tensor.shape().begin(), tensor.shape().end()},
                                   .data = tensor.ToVector<float>()});
  }
  return states;
}

void LoadStates(optim::Optimizer& optimizer, const std::string& solver, const std::string& at,
                const std::vector<nnabla::SolverState>& states) {
  StateDict all;
  for (const nnabla::SolverState& s : states) {
    all.Insert(s.parameter + ".t", Tensor(static_cast<int64_t>(s.t)));
    for (const nnabla::StateParameter& p : s.state) {
      all.Insert(absl::StrCat(s.parameter, ".", p.name), FromVector(p.data, Shape(p.shape)));
    }
  }
  try {
    optimizer.LoadStateDict(
        io::FromNnablaSolverStates(all, at, optimizer.state_dict(), {.solver = solver}));
  } catch (const Error& error) {
    const std::string text = error.what();
    RaiseStatus(absl::Status(error.code(), text.find(at) == std::string::npos
                                               ? absl::StrCat(at, ", states: ", text)
                                               : text),
                "nnp");
  }
}

}  // namespace firn::cli
