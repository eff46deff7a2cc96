// One table in both directions: a group of Firn's must have all options of a kind and no others, so
// an optimizer that only shares words with PyTorch's, such as Lion, is not taken for one of them.
#include "firn/io/torch/internal/torch_optimizer_kinds.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_join.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

constexpr TorchOption kOptions[] = {
    {"lr", "lr"},
    {"beta1", "betas.0"},
    {"beta2", "betas.1"},
    {"eps", "eps"},
    {"weight_decay", "weight_decay"},
    {"amsgrad", "amsgrad", true},
    {"momentum", "momentum"},
    {"dampening", "dampening"},
    {"nesterov", "nesterov", true},
    {"alpha", "alpha"},
    {"centered", "centered", true},
    {"lr_decay", "lr_decay"},
    {"initial_accumulator_value", "initial_accumulator_value"},
    {"rho", "rho"},
    {"momentum_decay", "momentum_decay"},
    {"decoupled_weight_decay", "decoupled_weight_decay", true},
    {"eta_minus", "etas.0"},
    {"eta_plus", "etas.1"},
    {"min_step", "step_sizes.0"},
    {"max_step", "step_sizes.1"},
    {"beta2_decay", "beta2_decay"},
    {"eps1", "eps.0", false, true},
    {"eps2", "eps.1"},
    {"d", "d"},
};

constexpr TorchOptimizerKind kKinds[] = {
    {.name = "SGD",
     .options = "momentum dampening weight_decay nesterov",
     .states = "momentum_buffer",
     .firn_only = "lr_in_velocity semantics"},
    {.name = "Adam or AdamW",
     .options = "beta1 beta2 eps weight_decay amsgrad",
     .states = "exp_avg exp_avg_sq max_exp_avg_sq",
     .firn_only = "bias_correction eps_uncorrected semantics base_lr",
     .torch_only = "decoupled_weight_decay"},
    {.name = "RMSprop",
     .options = "alpha eps weight_decay momentum centered",
     .states = "square_avg grad_avg momentum_buffer"},
    {.name = "Adagrad",
     .options = "lr_decay weight_decay initial_accumulator_value eps",
     .states = "sum",
     .later = "initial_accumulator_value eps"},
    {.name = "Adadelta", .options = "rho eps weight_decay", .states = "square_avg acc_delta"},
    {.name = "Adamax",
     .options = "beta1 beta2 eps weight_decay",
     .states = "exp_avg exp_inf",
     .firn_only = "semantics"},
    {.name = "NAdam",
     .options = "beta1 beta2 eps weight_decay momentum_decay decoupled_weight_decay",
     .states = "exp_avg exp_avg_sq",
     .later = "decoupled_weight_decay"},
    {.name = "RAdam",
     .options = "beta1 beta2 eps weight_decay decoupled_weight_decay",
     .states = "exp_avg exp_avg_sq",
     .later = "decoupled_weight_decay"},
    {.name = "Rprop",
     .options = "eta_minus eta_plus min_step max_step",
     .states = "prev step_size"},
    {.name = "Adafactor",
     .options = "beta2_decay eps1 eps2 d weight_decay",
     .states = "row_var col_var variance"},
};

bool Has(std::string_view words, std::string_view word) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

bool HasTheseOptions(const TorchOptimizerKind& kind, const StateDict& group) {
  return std::all_of(std::begin(kOptions), std::end(kOptions),
                     [&](const TorchOption& o) {
                       return !Has(kind.options, o.firn) || group.Contains(o.firn);
                     }) &&
         std::all_of(group.begin(), group.end(), [&](const auto& entry) {
           return entry.first == "lr" || Has(kind.options, entry.first) ||
                  Has(kind.firn_only, entry.first);
         });
}

}  // namespace

const TorchOption* FindTorchOption(std::string_view firn) {
  const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                         [&](const TorchOption& o) { return o.firn == firn; });
  return found == std::end(kOptions) ? nullptr : found;
}

const TorchOption* OtherOfPair(const TorchOption& option) {
  if (!option.torch.ends_with(".0")) return nullptr;
  const std::string other = std::string(option.torch.substr(0, option.torch.size() - 1)) + "1";
  return std::find_if(std::begin(kOptions), std::end(kOptions),
                      [&](const TorchOption& o) { return o.torch == other; });
}

absl::StatusOr<const TorchOptimizerKind*> KindOfGroup(std::string_view where,
                                                      const StateDict& group) {
  const auto* const kind =
      std::find_if(std::begin(kKinds), std::end(kKinds),
                   [&](const TorchOptimizerKind& k) { return HasTheseOptions(k, group); });
  if (kind != std::end(kKinds)) return kind;
  const auto name = [](std::string* out, const auto& entry) { out->append(entry.first); };
  return Unimplemented(where, ": no optimizer of PyTorch has the options ",
                       absl::StrJoin(group, ", ", name), " and no others");
}

absl::Status CheckFirnOnly(std::string_view where, const StateDict& group,
                           const TorchOptimizerKind& kind) {
  for (const auto& [option, tensor] : group) {
    // Only NNabla's semantics read base_lr.
    if (option == "base_lr" || !Has(kind.firn_only, option)) continue;
    const double value = tensor.Item(), usual = option == "bias_correction" ? 1 : 0;
    FIRN_RETURN_IF(value != usual, Unimplemented(where, ".", option, " is ", value,
                                                 ", which PyTorch's optimizers have no word for"));
  }
  return absl::OkStatus();
}

absl::Status CheckTorchGroup(const std::string& where, const StateDict& group,
                             const TorchOptimizerKind& kind) {
  for (const TorchOption& option : kOptions) {
    const bool known = option.firn == "lr" || Has(kind.options, option.firn);
    const std::string word(option.torch);
    const bool there = group.Contains(word);
    FIRN_RETURN_IF(there && !known && !Has(kind.torch_only, option.firn),
                   DataLoss(where, ".", word, ": expected options of ", std::string(kind.name),
                            ", which has no such one"));
    FIRN_RETURN_IF(!there && known && !option.none && !Has(kind.later, option.firn),
                   DataLoss(where, ": expected options of ", std::string(kind.name), ", got no ",
                            JsonString(word)));
  }
  return absl::OkStatus();
}

bool HasState(const TorchOptimizerKind& kind, std::string_view state) {
  return state == "step" || Has(kind.states, state);
}

}  // namespace firn::io::internal
