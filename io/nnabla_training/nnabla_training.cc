// The trained parameters are found before networks are made, since networks ask whether their
// parameters require gradients.
#include "firn/io/nnabla_training/nnabla_training.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/internal/nnabla_definition.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;

// Whether `name` is `pattern` with an index, "[2]", in the place of each "{...}". The place before
// an index is fixed, so that there is one way at most and nothing to try again.
bool IsCopyOf(std::string_view name, std::string_view pattern) {
  while (!pattern.empty()) {
    const size_t end = pattern[0] == '{' ? pattern.find('}') : std::string_view::npos;
    if (end == std::string_view::npos) {
      if (name.empty() || name[0] != pattern[0]) return false;
      name.remove_prefix(1);
      pattern.remove_prefix(1);
      continue;
    }
    size_t digits = 1;
    while (digits < name.size() && absl::ascii_isdigit(static_cast<unsigned char>(name[digits]))) {
      ++digits;
    }
    const bool index = digits > 1 && digits < name.size() && name[0] == '[' && name[digits] == ']';
    if (!index) return false;
    name.remove_prefix(digits + 1);
    pattern.remove_prefix(end + 1);
  }
  return name.empty();
}

class Training {
 public:
  Training(const nnabla::Model& model, const std::string& source,
           const NnablaImportOptions& options)
      : model_(model), source_(source), options_(options) {}

  absl::StatusOr<NnablaTraining> Run() {
    FIRN_RETURN_IF_ERROR(Config());
    for (const nnabla::Dataset& dataset : model_.datasets) {
      FIRN_RETURN_IF(!datasets_.insert(dataset.name).second,
                     InvalidArgument(source_, ": dataset ", JsonString(dataset.name),
                                     ": expected different names, got it twice"));
    }
    for (const nnabla::Optimizer& o : model_.optimizers) FIRN_RETURN_IF_ERROR(FindMoved(o));
    MakeState();
    for (size_t i = 0; i < model_.optimizers.size(); ++i) FIRN_RETURN_IF_ERROR(AddOptimizer(i));
    for (const nnabla::Monitor& m : model_.monitors) FIRN_RETURN_IF_ERROR(AddMonitor(m));
    return std::move(result_);
  }

 private:
  std::string At(const nnabla::Optimizer& o) const {
    return absl::StrCat(source_, ": optimizer ", JsonString(o.name));
  }

  absl::Status Config() {
    FIRN_RETURN_IF(!model_.training_config,
                   InvalidArgument(source_, ": training_config: expected one, got none"));
    FIRN_RETURN_IF(model_.optimizers.empty(),
                   InvalidArgument(source_, ": optimizer: expected at least one, got none"));
    nnabla::TrainingConfig& config = result_.config = *model_.training_config;
    const std::pair<const char*, int64_t> numbers[] = {
        {"max_epoch", config.max_epoch},
        {"iter_per_epoch", config.iter_per_epoch},
        {"monitor_interval", config.monitor_interval}};
    for (const auto& [name, number] : numbers) {
      FIRN_RETURN_IF(number < 0, InvalidArgument(source_, ": training_config.", name,
                                                 ": expected no number below 0, got ", number));
    }
    constexpr int64_t kMost = int64_t{1} << 53;
    FIRN_RETURN_IF(config.iter_per_epoch > 0 && config.max_epoch > kMost / config.iter_per_epoch,
                   InvalidArgument(source_,
                                   ": training_config: expected at most 2^53 iterations in all, "
                                   "got max_epoch ",
                                   config.max_epoch, " of ", config.iter_per_epoch));
    if (config.monitor_interval == 0) config.monitor_interval = 10;
    return absl::OkStatus();
  }

  // The network of this name without loops, which is made once.
  absl::StatusOr<const nnabla::Network*> Expanded(const std::string& name, const std::string& at) {
    const auto made = expanded_.find(name);
    if (made != expanded_.end()) return made->second.get();
    const auto found = std::ranges::find(model_.networks, name, &nnabla::Network::name);
    FIRN_RETURN_IF(found == model_.networks.end(),
                   InvalidArgument(at, ", network_name: expected a network of the file, got ",
                                   JsonString(name)));
    nnabla::ExpandOptions expand = options_.expand;
    expand.batch_size = options_.batch_size;
    absl::StatusOr<nnabla::Network> whole = nnabla::TryExpand(*found, expand);
    if (!whole.ok()) {
      return absl::Status(whole.status().code(),
                          absl::StrCat(source_, ": ", std::string(whole.status().message())));
    }
    auto& kept = expanded_[name];
    kept = std::make_unique<const nnabla::Network>(*std::move(whole));
    return kept.get();
  }

  absl::Status FindMoved(const nnabla::Optimizer& o) {
    FIRN_ASSIGN_OR_RETURN(const nnabla::Network* const network, Expanded(o.network_name, At(o)));
    std::set<std::string>& moved = moved_.emplace_back();
    absl::flat_hash_map<std::string_view, bool> parameters;  // of all variables: whether it is one
    for (const nnabla::Variable& variable : network->variables) {
      parameters.emplace(variable.name, variable.type == "Parameter");
    }
    for (const nnabla::ParameterVariable& p : o.parameter_variable) {
      const bool moves = p.learning_rate_multiplier > 0;
      const auto add = [&](std::string_view name) {
        const std::string in_state = nnabla::ParameterName(std::string(name));
        if (moves) {
          moved.insert(in_state);
        } else {
          moved.erase(in_state);
        }
      };
      if (const auto found = parameters.find(p.variable_name); found != parameters.end()) {
        FIRN_RETURN_IF(!found->second && moves,
                       InvalidArgument(At(o), ", parameter_variable ", JsonString(p.variable_name),
                                       ": expected a variable of the type \"Parameter\""));
        if (found->second) add(p.variable_name);
        continue;
      }
      bool any = false;
      if (p.variable_name.find('{') != std::string::npos) {
        for (const auto& [name, is_parameter] : parameters) {
          if (!is_parameter || !IsCopyOf(name, p.variable_name)) continue;
          add(name);
          any = true;
        }
      }
      FIRN_RETURN_IF(
          !any, InvalidArgument(At(o), ", parameter_variable: expected a parameter of network ",
                                JsonString(o.network_name), ", got ", JsonString(p.variable_name)));
    }
    return absl::OkStatus();
  }

  void MakeState() {
    const NoGradScope no_grad;
    for (const auto& [name, tensor] : model_.parameters) {
      Tensor own = Cast(tensor.Detach(), DType::kF32);
      if (own.impl() == tensor.impl() || tensor.dtype() == DType::kF32) own = Clone(own);
      for (const std::set<std::string>& moved : moved_) {
        if (moved.contains(name)) own.SetRequiresGrad();
      }
      result_.state.Insert(name, std::move(own));
    }
  }

  // The part that optimizers and monitors share; `wanted` has the outputs.
  template <class Message>
  absl::Status Feed(const Message& message, const std::string& at, internal::NnablaWanted wanted,
                    NnablaFed* fed) {
    fed->name = message.name;
    fed->network_name = message.network_name;
    fed->datasets = message.dataset_name;
    for (const std::string& name : message.dataset_name) {
      FIRN_RETURN_IF(!datasets_.contains(name),
                     InvalidArgument(at, ", dataset_name: expected a data set of the file, got ",
                                     JsonString(name)));
    }
    static const auto* const numbers = new absl::flat_hash_set<std::string>{
        "%iter", "%max_iter", "%epoch", "%epochf", "%max_epoch", "%progress"};
    for (const nnabla::DataVariable& v : message.data_variable) {
      FIRN_RETURN_IF(
          v.data_name.empty() || (v.data_name[0] == '%' && !numbers->contains(v.data_name)),
          InvalidArgument(at, ", data_variable ", JsonString(v.variable_name),
                          ", data_name: expected a variable of a data set or %iter, "
                          "%max_iter, %epoch, %epochf, %max_epoch or %progress, got ",
                          JsonString(v.data_name)));
      wanted.inputs.push_back(v.variable_name);
      fed->data.push_back(v.data_name);
    }
    wanted.generators = message.generator_variable;
    FIRN_ASSIGN_OR_RETURN(const nnabla::Network* const network, Expanded(message.network_name, at));
    const std::string where = absl::StrCat(at, ", network ", JsonString(message.network_name));
    FIRN_ASSIGN_OR_RETURN(fed->network,
                          internal::NnablaNetworkOf(*network, wanted, result_.state, where));
    return absl::OkStatus();
  }

  absl::Status AddOptimizer(size_t i) {
    const nnabla::Optimizer& o = model_.optimizers[i];
    FIRN_RETURN_IF(!o.solver, InvalidArgument(At(o), ", solver: expected one, got none"));
    FIRN_RETURN_IF(o.loss_variable.empty(),
                   InvalidArgument(At(o), ", loss_variable: expected at least one, got none"));
    const std::pair<const char*, int64_t> limits[] = {{"update_interval", o.update_interval},
                                                      {"start_iter", o.start_iter},
                                                      {"end_iter", o.end_iter}};
    for (const auto& [name, number] : limits) {
      FIRN_RETURN_IF(number < 0, InvalidArgument(At(o), ", ", name,
                                                 ": expected no number below 0, got ", number));
    }
    NnablaOptimizer made;
    made.solver = *o.solver;
    made.update_interval = std::max<int64_t>(1, o.update_interval);
    made.start_iter = o.start_iter;
    made.end_iter = o.end_iter;
    internal::NnablaWanted wanted;
    for (const nnabla::LossVariable& v : o.loss_variable) wanted.outputs.push_back(v.variable_name);
    FIRN_RETURN_IF_ERROR(Feed(o, At(o), std::move(wanted), &made));
    for (const std::string& name : moved_[i]) {
      if (made.network.parameters().Contains(name)) made.parameters.push_back(name);
    }
    FIRN_RETURN_IF(made.parameters.empty(),
                   InvalidArgument(At(o),
                                   ", parameter_variable: expected a parameter that the "
                                   "losses need with a learning_rate_multiplier above 0, "
                                   "got none"));
    result_.optimizers.push_back(std::move(made));
    return absl::OkStatus();
  }

  absl::Status AddMonitor(const nnabla::Monitor& m) {
    const std::string at = absl::StrCat(source_, ": monitor ", JsonString(m.name));
    FIRN_RETURN_IF(m.monitor_variable.empty(),
                   InvalidArgument(at, ", monitor_variable: expected at least one, got none"));
    for (const nnabla::DataVariable& v : m.data_variable) {
      FIRN_RETURN_IF(v.data_name.starts_with("%"),
                     InvalidArgument(at, ", data_variable ", JsonString(v.variable_name),
                                     ", data_name: expected a variable of a data set, as monitors "
                                     "know no iterations, got ",
                                     JsonString(v.data_name)));
    }
    internal::NnablaWanted wanted;
    for (const auto& v : m.monitor_variable) wanted.outputs.push_back(v.variable_name);
    NnablaEvaluation made;
    FIRN_RETURN_IF_ERROR(Feed(m, at, std::move(wanted), &made));
    result_.monitors.push_back(std::move(made));
    return absl::OkStatus();
  }

  const nnabla::Model& model_;
  const std::string& source_;
  const NnablaImportOptions& options_;
  NnablaTraining result_;
  absl::flat_hash_set<std::string> datasets_;
  absl::flat_hash_map<std::string, std::unique_ptr<const nnabla::Network>> expanded_;
  std::vector<std::set<std::string>> moved_;  // by optimizer, names in the state
};

}  // namespace

NnablaTraining ImportNnablaTraining(const nnabla::Model& model, const std::string& source,
                                    const NnablaImportOptions& options) {
  return ValueOrRaise(Training(model, source, options).Run(), "nnabla_training");
}

}  // namespace firn::io
