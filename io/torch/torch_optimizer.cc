// PyTorch has {"state": {0: {"step": ..., "exp_avg": ...}}, "param_groups": [{"lr": ..., "betas":
// (..., ...), "params": [0, 1]}]}. States have the same names here; parameters have their names in
// place of numbers. PyTorch counts steps in f32; its SGD does not count them.
#include "firn/io/torch/torch_optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/torch/internal/torch_optimizer_kinds.h"
#include "firn/io/torch/internal/torch_pickler.h"
#include "firn/io/torch/torch.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "torch optimizer";

using internal::FindTorchOption;
using internal::OtherOfPair;
using internal::TorchOptimizerKind;
using internal::TorchOption;

// {"3", "exp_avg"} of "3.exp_avg"; names of parameters have dots, those of states none.
std::pair<std::string, std::string> SplitLast(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

size_t GroupsOf(const StateDict& state, const char* list, const char* entry) {
  size_t n = 0;
  while (state.Contains(absl::StrCat(list, ".", n, ".", entry))) ++n;
  return n;
}

// The kind in PyTorch of a group of Firn's.
const TorchOptimizerKind& KindOf(const StateDict& optimizer, size_t group) {
  const std::string name = absl::StrCat("groups.", group);
  return *ValueOrRaise(internal::KindOfGroup(name, optimizer.Part(name)), kWho);
}

// For Adafactor: a parameter has only some of the states in PyTorch; here the others exist without
// elements.
constexpr const char* kFactored[] = {"row_var", "col_var", "variance"};

// The name of the parameter with that number.
std::string ParameterName(const std::string& path, const std::string& number,
                          const TorchOptimizerOptions& options) {
  if (options.parameters.empty()) return number;
  size_t i = 0;
  if (!absl::SimpleAtoi(number, &i) || i >= options.parameters.size()) {
    RaiseStatus(DataLoss(path, ": state.", number, ": expected the number of one of the ",
                         options.parameters.size(), " parameters that were named"),
                kWho);
  }
  return options.parameters[i];
}

// The options of a group, the file's where it has them.
void ReadOptions(const std::string& path, const StateDict& file, size_t group,
                 const StateDict& optimizer, StateDict* result) {
  const std::string theirs = absl::StrCat("param_groups.", group, ".");
  const Tensor* maximize = file.Find(theirs + "maximize");
  if (maximize != nullptr && maximize->Item() != 0) {
    RaiseStatus(Unimplemented(path, ": ", theirs, "maximize: expected false, got true"), kWho);
  }
  const std::string ours = absl::StrCat("groups.", group, ".");
  const TorchOptimizerKind& kind = KindOf(optimizer, group);
  RaiseIfError(internal::CheckTorchGroup(absl::StrCat(path, ": param_groups.", group),
                                         file.Part(absl::StrCat("param_groups.", group)), kind),
               kWho);
  for (const auto& [name, value] : optimizer) {
    if (!name.starts_with(ours)) continue;
    const TorchOption* option = FindTorchOption(std::string_view(name).substr(ours.size()));
    const Tensor* given =
        option == nullptr ? nullptr : file.Find(theirs + std::string(option->torch));
    const bool none = given == nullptr && option != nullptr && option->none &&
                      file.Contains(theirs + std::string(OtherOfPair(*option)->torch));
    result->Insert(name, none               ? Full({}, 0, value.dtype())
                         : given == nullptr ? value
                                            : Cast(given->Detach(), value.dtype()));
  }
}

void AddFactored(StateDict* state) {
  StateDict added;
  for (const auto& [name, value] : *state) {
    const auto [prefix, last] = SplitLast(name);
    if (last != "step") continue;
    for (const char* factor : kFactored) {
      const std::string missing = absl::StrCat(prefix, ".", factor);
      if (!state->Contains(missing)) added.Insert(missing, Zeros({0}));
    }
  }
  state->InsertAll("", added);
}

}  // namespace

StateDict LoadTorchOptimizer(const std::string& path, const StateDict& optimizer,
                             const TorchOptimizerOptions& options) {
  const NoGradScope no_grad;
  const StateDict all = LoadTorch(path, {.load = {.limits = options.limits}, .numbers = true});
  const StateDict file = options.part.empty() ? all : all.Part(options.part);
  const size_t groups = GroupsOf(file, "param_groups", "lr");
  const size_t wanted = GroupsOf(optimizer, "groups", "lr");
  if (groups == 0 || groups != wanted) {
    RaiseStatus(
        DataLoss(path, ": param_groups: expected ", wanted, " groups with a rate, got ", groups),
        kWho);
  }
  StateDict result;
  const TorchOptimizerKind& kind = KindOf(optimizer, 0);
  for (size_t g = 0; g < groups; ++g) ReadOptions(path, file, g, optimizer, &result);
  for (const auto& [name, value] : file.Part("state")) {
    const auto [number, state] = SplitLast(name);
    const std::string prefix = absl::StrCat("state.", ParameterName(path, number, options), ".");
    if (state == "mu_product") continue;  // NAdam's product follows from the step
    if (!internal::HasState(kind, state)) {
      RaiseStatus(DataLoss(path, ": state.", name, ": expected states of ", std::string(kind.name),
                           ", which has no such one"),
                  kWho);
    }
    if (state == "step") {
      result.Set(prefix + state, Cast(value, DType::kI64));
      continue;
    }
    result.Insert(prefix + state, value);
    // SGD counts no steps; a velocity means that at least one was taken.
    if (!result.Contains(prefix + "step")) result.Insert(prefix + "step", Full({}, 1, DType::kI64));
  }
  if (optimizer.Contains("groups.0.beta2_decay")) AddFactored(&result);
  return result;
}

namespace {

void WriteGroup(const StateDict& optimizer, size_t group, int64_t first, int64_t count,
                internal::TorchPickler* pickler) {
  const std::string ours = absl::StrCat("groups.", group, ".");
  pickler->BeginDict();
  for (const auto& [name, tensor] : optimizer) {
    if (!name.starts_with(ours)) continue;
    const double value = tensor.Item();
    const TorchOption* option = FindTorchOption(std::string_view(name).substr(ours.size()));
    if (option == nullptr || option->torch.ends_with(".1")) continue;
    const TorchOption* other = OtherOfPair(*option);
    pickler->Text(option->torch.substr(0, option->torch.find('.')));
    if (other != nullptr) pickler->BeginTuple();
    if (option->flag) {
      pickler->Flag(value != 0);
    } else if (option->none && value == 0) {
      pickler->None();
    } else {
      pickler->Number(value);
    }
    if (other == nullptr) continue;
    pickler->Number(optimizer[ours + std::string(other->firn)].Item());
    pickler->EndTuple();
  }
  pickler->Text("maximize");  // without which Adafactor does not step
  pickler->Flag(false);
  pickler->Text("params");
  pickler->BeginList();
  for (int64_t i = first; i < first + count; ++i) pickler->Integer(i);
  pickler->EndList();
  pickler->EndDict();
}

// The product of NAdam's momenta up to a step, which PyTorch keeps and Firn computes.
double MomentumProduct(double beta1, double decay, double steps) {
  double product = 1;
  for (double i = 1; i <= steps && product > 0; ++i) {
    const double power = std::pow(0.96, i * decay);
    if (power < 1e-17) return product * std::pow(beta1, steps - i + 1);  // all others are beta1
    product *= beta1 * (1 - 0.5 * power);
  }
  return product;
}

// Whether PyTorch has this state for a parameter; for Adafactor the rank decides.
bool IsKept(const StateDict& states, const std::string& prefix, const std::string& state) {
  const Tensor* rows = states.Find(prefix + "row_var");
  if (rows == nullptr || std::count(std::begin(kFactored), std::end(kFactored), state) == 0) {
    return true;
  }
  return (rows->rank() > 1) == (state != "variance");
}

// Writes the states of the parameters `first` to `last`, a group, by their numbers. Returns how
// many entries of `states` belong to them.
size_t WriteStates(const StateDict& states, const std::vector<std::string>& parameters,
                   int64_t first, int64_t last, const StateDict& group,
                   const TorchOptimizerKind& kind, internal::TorchPickler* pickler) {
  const bool counted = !group.Contains("dampening");  // all but SGD
  size_t written = 0;
  for (int64_t i = first; i < last; ++i) {
    const std::string& parameter = parameters[static_cast<size_t>(i)];
    const std::string prefix = parameter + ".";
    const Tensor* step = states.Find(prefix + "step");
    if (step == nullptr) continue;  // never moved
    pickler->Integer(i);
    pickler->BeginDict();
    for (const auto& [name, tensor] : states) {
      const auto [of, state] = SplitLast(name);
      if (of != parameter) continue;
      if (!internal::HasState(kind, state)) {
        RaiseStatus(Unimplemented(std::string(kind.name), " of PyTorch has no state.", name), kWho);
      }
      ++written;
      const bool is_step = state == "step";
      if ((is_step && !counted) || !IsKept(states, prefix, state)) continue;
      pickler->Text(state);
      RaiseIfError(internal::TorchPickler::CheckEntry(name, tensor), kWho);
      pickler->Add(is_step ? Cast(tensor.Detach(), DType::kF32) : tensor);
    }
    if (const Tensor* decay = group.Find("momentum_decay")) {
      pickler->Text("mu_product");
      const double product =
          MomentumProduct(group["beta1"].Item(), decay->Item(), step->Item<double>());
      pickler->Add(Full({}, product, DType::kF32));
    }
    pickler->EndDict();
  }
  return written;
}

// Refuses states of parameters that are not named, unless all `written` are.
void CheckAllWritten(const StateDict& states, const std::vector<std::string>& parameters,
                     size_t written) {
  if (written == states.size()) return;
  for (const auto& [name, unused] : states) {
    const std::string parameter = SplitLast(name).first;
    if (std::count(parameters.begin(), parameters.end(), parameter) > 0) continue;
    RaiseStatus(InvalidArgument("'", parameter, "' has a state (want it among the parameters that ",
                                "the options name)"),
                kWho);
  }
}

}  // namespace

void SaveTorchOptimizer(const std::string& path, const StateDict& optimizer,
                        const TorchOptimizerOptions& options) {
  const NoGradScope no_grad;
  const auto n = static_cast<int64_t>(options.parameters.size());
  const std::vector<int64_t> counts =
      options.groups.empty() ? std::vector<int64_t>{n} : options.groups;
  const size_t groups = GroupsOf(optimizer, "groups", "lr");
  if (counts.size() != groups || std::accumulate(counts.begin(), counts.end(), int64_t{0}) != n) {
    RaiseStatus(InvalidArgument("groups: ", counts.size(), " of them (want ", groups,
                                ", which have ", n, " parameters together)"),
                kWho);
  }
  internal::TorchPickler pickler;
  pickler.BeginDict();
  pickler.Text("state");
  pickler.BeginDict();
  const StateDict states = optimizer.Part("state");
  size_t written = 0;
  int64_t at = 0;
  for (size_t g = 0; g < groups; ++g) {
    const TorchOptimizerKind& kind = KindOf(optimizer, g);
    const std::string name = absl::StrCat("groups.", g);
    const StateDict group = optimizer.Part(name);
    RaiseIfError(internal::CheckFirnOnly(name, group, kind), kWho);
    written += WriteStates(states, options.parameters, at, at + counts[g], group, kind, &pickler);
    at += counts[g];
  }
  pickler.EndDict();
  CheckAllWritten(states, options.parameters, written);
  pickler.Text("param_groups");
  pickler.BeginList();
  int64_t first = 0;
  for (size_t g = 0; g < groups; ++g) {
    WriteGroup(optimizer, g, first, counts[g], &pickler);
    first += counts[g];
  }
  pickler.EndList();
  pickler.EndDict();
  RaiseIfError(pickler.WriteTo(path), kWho);
}

}  // namespace firn::io
