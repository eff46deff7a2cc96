// Names of states by solver, from NNabla's sources and formulas of optim/. A velocity
// v of NNabla has the rate in it, v = momentum v + lr g; ours has it if the group says so.
#include "firn/io/nnabla/nnabla_solver.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/hdf5/internal/h5_names.h"
#include "firn/io/hdf5/internal/h5_writer.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "nnabla solver";
constexpr std::string_view kStatePrefix = "state.";

// How NNabla's state follows from ours.
enum class Scale { kSame, kMinus, kVelocity, kMinusVelocity };

struct StateName {
  const char* nnabla;
  const char* firn;
  Scale scale = Scale::kSame;
  bool optional = false;  // present only if an option of the solver asks for it
};

struct Solver {
  const char* name;
  std::vector<StateName> states;
};

const std::vector<Solver>& Solvers() {
  static const auto* solvers = new std::vector<Solver>{
      {"Sgd", {}},
      {"SgdW", {{"m", "momentum_buffer"}}},
      {"Momentum", {{"m", "momentum_buffer", Scale::kVelocity}}},
      {"Nesterov", {{"m", "momentum_buffer", Scale::kMinusVelocity}}},
      {"Adam", {{"mean", "exp_avg"}, {"var", "exp_avg_sq"}}},
      {"AdamW", {{"mean", "exp_avg"}, {"var", "exp_avg_sq"}}},
      {"Adamax", {{"m", "exp_avg"}, {"u", "exp_inf"}}},
      {"AMSGRAD", {{"m", "exp_avg"}, {"v", "exp_avg_sq"}, {"v_hat", "max_exp_avg_sq"}}},
      {"AdaBound", {{"mean", "exp_avg"}, {"var", "exp_avg_sq"}}},
      {"AMSBound", {{"m", "exp_avg"}, {"v", "exp_avg_sq"}, {"v_hat", "max_exp_avg_sq"}}},
      {"Adagrad", {{"v", "sum"}}},
      {"Adadelta", {{"e_sqr_grad", "square_avg"}, {"e_sqr_delta", "acc_delta"}}},
      {"RMSprop", {{"v", "square_avg"}}},
      {"RMSpropGraves",
       {{"n", "square_avg"}, {"g", "grad_avg"}, {"d", "momentum_buffer", Scale::kMinus}}},
      {"AdaBelief",
       {{"mean", "exp_avg"},
        {"var", "exp_avg_var"},
        {"s_max", "max_exp_avg_var", Scale::kSame, /*optional=*/true}}},
      {"Lars", {{"v", "momentum_buffer"}}},  // both have the rate in it
      {"Lamb", {{"mean", "exp_avg"}, {"var", "exp_avg_sq"}}},
      {"Lion", {{"m", "exp_avg"}}},
  };
  return *solvers;
}

const Solver& FindSolver(const std::string& name) {
  std::string all;
  for (const Solver& s : Solvers()) {
    if (s.name == name) return s;
    absl::StrAppend(&all, all.empty() ? "" : ", ", s.name);
  }
  RaiseStatus(InvalidArgument("unknown solver '", name, "' (want one of ", all, ")"), kWho);
}

// The factor from our velocity to NNabla's, from the options of all groups.
double RateInVelocity(const StateDict& optimizer) {
  std::set<double> factors;
  for (int64_t g = 0; optimizer.Contains(absl::StrCat("groups.", g, ".lr")); ++g) {
    const auto option = [&](const char* name) {
      const Tensor* value = optimizer.Find(absl::StrCat("groups.", g, ".", name));
      return value == nullptr ? 0 : value->Item();
    };
    const bool there = option("lr_in_velocity") != 0 || option("semantics") != 0;
    factors.insert(there ? 1 : option("lr"));
  }
  if (factors.size() != 1 || *factors.begin() == 0) {
    RaiseStatus(InvalidArgument("a velocity needs one learning rate, above 0, of all groups"),
                kWho);
  }
  return *factors.begin();
}

double FactorOf(const StateName& state, const StateDict& optimizer) {
  if (state.scale == Scale::kSame) return 1;
  if (state.scale == Scale::kMinus) return -1;
  const double rate = RateInVelocity(optimizer);
  return state.scale == Scale::kVelocity ? rate : -rate;
}

// "fc.weight.exp_avg" is {"fc.weight", "exp_avg"}; the first is empty where there is no dot.
std::pair<std::string, std::string> SplitLast(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {"", std::string(name)};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

// The names before the last dots, in the order in which they come first.
std::vector<std::string> Parameters(const StateDict& states) {
  OrderedMap<bool> names;
  for (const auto& [name, unused] : states) names.Set(SplitLast(name).first, true);
  std::vector<std::string> list;
  for (const auto& [name, unused] : names) list.push_back(name);
  return list;
}

std::string Renamed(const NnablaSolverOptions& options, const std::string& name) {
  return options.rename ? options.rename(name) : name;
}

Tensor Scaled(const Tensor& state, double factor) {
  const Tensor value = state.Detach();
  return factor == 1 ? value : value * factor;
}

}  // namespace

StateDict NnablaSolverStates(const StateDict& optimizer, const NnablaSolverOptions& options) {
  const NoGradScope no_grad;
  const Solver& solver = FindSolver(options.solver);
  const StateDict states = optimizer.Part("state");
  StateDict file;
  for (const std::string& parameter : Parameters(states)) {
    const std::string renamed = Renamed(options, parameter);
    const auto take = [&](const char* name) {
      const Tensor* state = states.Find(absl::StrCat(parameter, ".", name));
      if (state != nullptr) return state->Detach().To(Device::Cpu());
      RaiseStatus(InvalidArgument("the state of ", parameter, " has no ", name, ", which ",
                                  solver.name, " has"),
                  kWho);
    };
    const auto insert = [&](const char* name, const Tensor& value) {
      file.Insert(absl::StrCat(renamed, ".", name), value);
    };
    insert("t", Cast(take("step"), DType::kI64));
    for (const StateName& s : solver.states) {
      if (s.optional && !states.Contains(absl::StrCat(parameter, ".", s.firn))) continue;
      insert(s.nnabla, Scaled(Cast(take(s.firn), DType::kF32), FactorOf(s, optimizer)));
    }
  }
  if (file.size() != states.size()) {
    RaiseStatus(InvalidArgument("the optimizer has ", states.size(), " states, of which ",
                                solver.name, " has ", file.size()),
                kWho);
  }
  return file;
}

void SaveNnablaSolver(const std::string& path, const StateDict& optimizer,
                      const NnablaSolverOptions& options) {
  const StateDict file = NnablaSolverStates(optimizer, options);
  std::vector<std::string> groups;
  for (const std::string& name : Parameters(file)) {
    std::string group = internal::H5Path(file, name + ".t");
    if (!group.ends_with("/t")) {
      RaiseStatus(InvalidArgument("'", name, "' cannot be the name of a group"), kWho);
    }
    groups.push_back(group.substr(0, group.size() - 2));
  }
  RaiseIfError(internal::WriteH5(path, file, groups), kWho);
}

StateDict FromNnablaSolverStates(const StateDict& file, const std::string& source,
                                 const StateDict& optimizer, const NnablaSolverOptions& options) {
  const NoGradScope no_grad;
  const Solver& solver = FindSolver(options.solver);
  StateDict result;
  for (const auto& [name, value] : optimizer) {
    if (!name.starts_with(kStatePrefix)) result.Insert(name, value);
  }
  for (const std::string& parameter : Parameters(file)) {
    const auto take = [&](const char* name, bool count) {
      const std::string entry = absl::StrCat(parameter, ".", name);
      const Tensor* state = file.Find(entry);
      if (state == nullptr || IsFloating(state->dtype()) == count ||
          (count && state->rank() != 0)) {
        RaiseStatus(DataLoss(source, ": ", entry, ": expected ",
                             count ? "a count of steps" : "a state of floats", " of ", solver.name,
                             ", got ", state == nullptr ? "none" : state->spec().ToString()),
                    kWho);
      }
      return *state;
    };
    const std::string prefix =
        absl::StrCat(std::string(kStatePrefix), Renamed(options, parameter), ".");
    result.Insert(prefix + "step", Cast(take("t", true), DType::kI64));
    for (const StateName& s : solver.states) {
      if (s.optional && !file.Contains(absl::StrCat(parameter, ".", s.nnabla))) continue;
      result.Insert(prefix + s.firn, Scaled(take(s.nnabla, false), 1 / FactorOf(s, optimizer)));
    }
  }
  for (const auto& [entry, unused] : file) {
    const std::string name = SplitLast(entry).second;
    const bool known = name == "t" || std::any_of(solver.states.begin(), solver.states.end(),
                                                  [&](const auto& s) { return s.nnabla == name; });
    if (!known) {
      RaiseStatus(DataLoss(source, ": ", entry, ": ", solver.name, " has no such state"), kWho);
    }
  }
  return result;
}

StateDict LoadNnablaSolver(const std::string& path, const StateDict& optimizer,
                           const NnablaSolverOptions& options) {
  FindSolver(options.solver);
  absl::StatusOr<StateDict> file = TryLoadHdf5(path, {.limits = options.limits});
  RaiseIfError(file.status(), kWho);
  return FromNnablaSolverStates(*file, path, optimizer, options);
}

}  // namespace firn::io
