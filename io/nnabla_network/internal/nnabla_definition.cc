// A value for each variable that is needed: those of inputs first, then what functions make. A walk
// backwards from the outputs finds what is needed, since functions are in an order in which they
// run. If the file leaves the batch open, its size comes from the network's first open input: a
// function or a generator that must know it gets that input in addition, behind its own.
#include "firn/io/nnabla_network/internal/nnabla_definition.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/node_call.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/unsupported_list.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/io/nnabla_network/internal/nnabla_steps.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {
namespace {

using autograd::kNoValue;
using autograd::NetworkDefinition;
using autograd::NetworkNode;
using autograd::NetworkPort;
using autograd::NodeCall;
using autograd::Step;
using firn::inner::internal::JsonString;

std::string NameOf(const nnabla::Function& function) {
  return absl::StrCat(JsonString(function.name), " (", function.type, ")");
}

absl::Status NoneUnknown(const UnsupportedList& unknown, const std::string& source) {
  FIRN_RETURN_IF(!unknown.empty(),
                 Unimplemented(source, ": these functions are not supported: ", unknown.Text()));
  return absl::OkStatus();
}

class Making {
 public:
  Making(const nnabla::Network& network, const NnablaWanted& wanted, const StateDict& state,
         const std::string& source)
      : network_(network), wanted_(wanted), state_(state), source_(source) {
    for (const nnabla::Variable& variable : network.variables) {
      variables_.emplace(variable.name, &variable);
    }
  }

  absl::StatusOr<Network> Run() {
    d_->source = source_;
    FIRN_RETURN_IF_ERROR(Inputs());
    FIRN_RETURN_IF_ERROR(FindNeeded());
    FIRN_RETURN_IF_ERROR(CheckFunctions());
    FIRN_RETURN_IF_ERROR(Generators());
    FIRN_RETURN_IF_ERROR(Parameters());
    for (size_t i = 0; i < network_.functions.size(); ++i) {
      if (needed_[i]) FIRN_RETURN_IF_ERROR(Add(i));
    }
    for (const std::string& name : wanted_.outputs) {
      d_->body.outputs.push_back(values_.at(name));
      d_->outputs.push_back({.name = name, .dtype = {}, .dims = {}});
    }
    d_->num_values = next_;
    return Network(d_, parameters_);
  }

 private:
  absl::Status Refuse(const std::string& message) const {
    return InvalidArgument(source_, ": ", message);
  }

  absl::StatusOr<const nnabla::Variable*> Find(const std::string& name, const char* what) const {
    const auto found = variables_.find(name);
    if (found != variables_.end()) return found->second;
    return Refuse(
        absl::StrCat(what, ": expected a variable of the network, got ", JsonString(name)));
  }

  absl::Status Inputs() {
    for (const std::string& name : wanted_.inputs) {
      FIRN_ASSIGN_OR_RETURN(const nnabla::Variable* const variable, Find(name, "input"));
      FIRN_RETURN_IF(values_.contains(name), Refuse(absl::StrCat("input ", JsonString(name),
                                                                 ": expected once, got twice")));
      std::vector<autograd::NetworkDim> dims;
      for (const int64_t size : variable->shape) {
        if (size >= 0) {
          dims.push_back({.size = size, .symbol = {}});
          continue;
        }
        dims.push_back({.size = {}, .symbol = "batch"});
        if (batch_of_ == kNoValue) batch_of_ = next_;
      }
      d_->body.inputs.push_back(next_);
      d_->inputs.push_back({.name = name, .dtype = {}, .dims = std::move(dims)});
      values_.emplace(name, next_++);
    }
    for (const nnabla::GeneratorVariable& generator : wanted_.generators) {
      FIRN_RETURN_IF_ERROR(Find(generator.variable_name, "generator_variable").status());
      FIRN_RETURN_IF(!values_.emplace(generator.variable_name, next_++).second,
                     Refuse(absl::StrCat("generator_variable ", JsonString(generator.variable_name),
                                         ": expected one that nothing else fills")));
    }
    return absl::OkStatus();
  }

  // The batch of a network whose inputs leave it nowhere open.
  absl::StatusOr<int64_t> BatchWithoutInput() const {
    FIRN_RETURN_IF(batch_of_ == kNoValue && network_.batch_size < 1,
                   Refuse("a first size is the batch: expected an input that has it or a "
                          "batch_size of the network, got neither"));
    return batch_of_ == kNoValue ? network_.batch_size : 1;
  }

  // Marks the functions that outputs need, and lists the parameters and the variables that no
  // function makes.
  absl::Status FindNeeded() {
    needed_.assign(network_.functions.size(), false);
    absl::flat_hash_set<std::string> names;
    for (const std::string& name : wanted_.outputs) {
      FIRN_RETURN_IF_ERROR(Find(name, "output").status());
      names.insert(name);
    }
    for (size_t i = network_.functions.size(); i-- > 0;) {
      const nnabla::Function& function = network_.functions[i];
      for (const std::string& name : function.output) {
        // Variables that the caller gives are not computed.
        if (names.contains(name) && !values_.contains(name)) needed_[i] = true;
      }
      if (!needed_[i]) continue;
      for (const std::string& name : function.output) made_.insert(name);
      names.insert(function.input.begin(), function.input.end());
    }
    std::vector<std::string> missing;
    for (const nnabla::Variable& variable : network_.variables) {
      if (!names.contains(variable.name) || values_.contains(variable.name)) continue;
      if (variable.type == "Parameter") {
        taken_.push_back(&variable);
      } else if (!made_.contains(variable.name)) {
        missing.push_back(JsonString(variable.name));
      }
    }
    FIRN_RETURN_IF(!missing.empty(),
                   Refuse(absl::StrCat("expected inputs or functions for all variables that are "
                                       "needed, got none for ",
                                       absl::StrJoin(missing, ", "))));
    return absl::OkStatus();
  }

  absl::Status CheckFunctions() const {
    UnsupportedList unknown;
    for (size_t i = 0; i < network_.functions.size(); ++i) {
      const nnabla::Function& function = network_.functions[i];
      if (!needed_[i] || FindNnablaOp(function.type) != nullptr) continue;
      unknown.Add(function.type, absl::StrCat("function ", NameOf(function)));
    }
    FIRN_RETURN_IF_ERROR(NoneUnknown(unknown, source_));
    for (size_t i = 0; i < network_.functions.size(); ++i) {
      const nnabla::Function& function = network_.functions[i];
      if (!needed_[i]) continue;
      const NnablaOp& op = *FindNnablaOp(function.type);
      const size_t inputs = function.input.size();
      FIRN_RETURN_IF(
          inputs < op.min_inputs || inputs > op.max_inputs,
          Refuse(absl::StrCat("function ", i, " ", NameOf(function), ", input: expected ",
                              op.max_inputs == kAnyInputs
                                  ? absl::StrCat("at least ", op.min_inputs)
                                  : absl::StrCat(op.min_inputs, " to ", op.max_inputs),
                              ", got ", inputs)));
    }
    return absl::OkStatus();
  }

  absl::Status Generators() {
    for (const nnabla::GeneratorVariable& generator : wanted_.generators) {
      const nnabla::Variable& variable = *variables_.at(generator.variable_name);
      std::vector<int64_t> sizes = variable.shape;
      const bool open = !sizes.empty() && sizes[0] == -1;
      if (open) {
        FIRN_ASSIGN_OR_RETURN(sizes[0], BatchWithoutInput());
      }
      absl::StatusOr<Step> step = Generated(generator, Shape{absl::Span<const int64_t>(sizes)});
      FIRN_RETURN_IF(!step.ok(), Refuse(std::string(step.status().message())));
      autograd::Lowering lower = [step = *std::move(step)](NodeCall&) { return step; };
      if (open && batch_of_ != kNoValue) {
        lower = [generator, sizes](NodeCall& call) {
          std::vector<int64_t> now = sizes;
          now[0] = call.ShapeAt(0)[0];
          return *Generated(generator, Shape{absl::Span<const int64_t>(now)});  // as above
        };
      }
      NetworkNode node{.name = variable.name,
                       .what = absl::StrCat("generator_variable ", JsonString(variable.name)),
                       .inputs = {},
                       .outputs = {values_.at(variable.name)},
                       .lower = std::move(lower),
                       .bodies = {},
                       .draws = true};
      if (open && batch_of_ != kNoValue) node.inputs.push_back(batch_of_);
      d_->body.nodes.push_back(std::move(node));
    }
    return absl::OkStatus();
  }

  absl::Status Parameters() {
    std::vector<std::string> missing;
    for (const nnabla::Variable* const variable : taken_) {
      const std::string name = nnabla::ParameterName(variable->name);
      if (!state_.Contains(name)) {
        missing.push_back(JsonString(variable->name));
        continue;
      }
      const Tensor& tensor = state_[name];
      const Shape shape{absl::Span<const int64_t>(variable->shape)};
      FIRN_RETURN_IF(
          tensor.shape() != shape,
          Refuse(absl::StrCat("parameter ", JsonString(variable->name), ", shape: expected ",
                              shape.ToString(), ", got ", tensor.shape().ToString())));
      values_.emplace(variable->name, next_);
      d_->parameters.emplace_back(name, next_++);
      parameters_.Insert(name, tensor);
    }
    FIRN_RETURN_IF(!missing.empty(),
                   Refuse(absl::StrCat("expected the parameters ", absl::StrJoin(missing, ", "),
                                       " in the file, got none of these names")));
    return absl::OkStatus();
  }

  int ValueOf(const std::string& name) {
    const auto [it, inserted] = values_.try_emplace(name, next_);
    if (inserted) ++next_;
    return it->second;
  }

  absl::Status Add(size_t i) {
    nnabla::Function function = network_.functions[i];
    const bool any = std::any_of(function.arguments.begin(), function.arguments.end(), IsOpen);
    const bool open = any && batch_of_ != kNoValue;
    if (any && !open) {
      FIRN_ASSIGN_OR_RETURN(const int64_t batch, BatchWithoutInput());
      function.arguments = WithBatch(std::move(function.arguments), batch);
    }
    const NnablaOp& op = *FindNnablaOp(function.type);
    NetworkNode node{.name = function.name,
                     .what = absl::StrCat("function ", i, " ", NameOf(function)),
                     .inputs = {},
                     .outputs = {},
                     .lower = LoweringOf(op, function, open),
                     .bodies = {},
                     .draws = op.options.draws};
    for (const std::string& name : function.input) node.inputs.push_back(ValueOf(name));
    if (open) node.inputs.push_back(batch_of_);
    for (const std::string& name : function.output) {
      // The caller's value takes the place of the function's result.
      const bool given = values_.contains(name);
      node.outputs.push_back(given ? kNoValue : ValueOf(name));
    }
    const auto inputs = static_cast<int>(function.input.size());
    const int written = op.options.first_written + (op.options.first_written < 0 ? inputs : 0);
    for (int j = std::max(0, written); j < std::min(inputs, written + op.options.writes); ++j) {
      const std::string name = nnabla::ParameterName(function.input[static_cast<size_t>(j)]);
      if (parameters_.Contains(name) && !parameters_[name].requires_grad()) {
        d_->buffers.push_back(name);
      }
    }
    d_->body.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  const nnabla::Network& network_;
  const NnablaWanted& wanted_;
  const StateDict& state_;
  const std::string& source_;
  std::shared_ptr<NetworkDefinition> d_ = std::make_shared<NetworkDefinition>();
  StateDict parameters_;
  absl::flat_hash_map<std::string, const nnabla::Variable*> variables_;
  absl::flat_hash_map<std::string, int> values_;
  absl::flat_hash_set<std::string> made_;
  std::vector<const nnabla::Variable*> taken_;  // parameters
  std::vector<bool> needed_;                    // of functions
  int next_ = 0;
  int batch_of_ = kNoValue;  // the first input whose first size is open
};

}  // namespace

NnablaWanted EndsOf(const nnabla::Network& network) {
  absl::flat_hash_set<std::string> made, taken;
  for (const nnabla::Function& function : network.functions) {
    made.insert(function.output.begin(), function.output.end());
    taken.insert(function.input.begin(), function.input.end());
  }
  NnablaWanted ends;
  for (const nnabla::Variable& variable : network.variables) {
    const bool is_made = made.contains(variable.name), is_taken = taken.contains(variable.name);
    if (variable.type == "Parameter") continue;
    if (is_taken && !is_made) ends.inputs.push_back(variable.name);
    if (is_made && !is_taken) ends.outputs.push_back(variable.name);
  }
  return ends;
}

absl::Status CheckNnablaFunctions(absl::Span<const nnabla::Network> networks,
                                  const std::string& source) {
  UnsupportedList unknown;
  for (const nnabla::Network& network : networks) {
    for (const nnabla::Function& function : network.functions) {
      if (FindNnablaOp(function.type) != nullptr) continue;
      unknown.Add(function.type, absl::StrCat("network ", JsonString(network.name), ", function ",
                                              NameOf(function)));
    }
  }
  return NoneUnknown(unknown, source);
}

absl::StatusOr<Network> NnablaNetworkOf(const nnabla::Network& network, const NnablaWanted& wanted,
                                        const StateDict& state, const std::string& source) {
  return Making(network, wanted, state, source).Run();
}

}  // namespace firn::io::internal
