// NNabla draws a parameter when a function that takes it is first met. Functions are met from the
// outputs backwards: the last output first, and of a function's inputs the last one first.
#include "firn/io/nnabla_training/nnabla_initial.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_training/internal/numpy_random.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;
using internal::NumpyRandom;
using nnabla::Variable;

// The numbers of inputs and outputs of a weight, and of its kernel's positions.
struct Fans {
  double in = 0, out = 0, kernel = 1;
};

// Fans of the three layouts that initializers are named by. None where the rank does not fit.
std::optional<Fans> FansOf(std::string_view type, const std::vector<int64_t>& shape) {
  const size_t rank = shape.size();
  const auto size = [&](size_t i) { return static_cast<double>(shape[i]); };
  const auto product = [&](size_t begin, size_t end) {
    double all = 1;
    for (size_t i = begin; i < end; ++i) all *= size(i);
    return all;
  };
  if (rank == 0) return std::nullopt;
  if (type.starts_with("Affine")) return Fans{size(0), product(1, rank), 1};
  if (rank < 3) return std::nullopt;
  if (type.starts_with("CLConv")) return Fans{size(rank - 1), size(0), product(1, 3)};
  return Fans{size(rank - 3), size(0), product(rank - 2, rank)};
}

// A distribution as `low + width * uniform` or `sigma * normal`, rounded to f32 and then scaled.
struct Draw {
  enum class Kind { kConstant, kRange, kUniform, kNormal } kind = Kind::kConstant;
  double low = 0, width = 0, sigma = 0;
  float scale = 1;
};

absl::StatusOr<Draw> DrawOf(const nnabla::Initializer& initializer,
                            const std::vector<int64_t>& shape) {
  const double m = initializer.multiplier;
  std::string_view type = initializer.type;
  if (type == "Constant") return Draw{.kind = Draw::Kind::kConstant, .low = m};
  if (type == "Range") return Draw{.kind = Draw::Kind::kRange, .scale = initializer.multiplier};
  if (type == "Uniform") return Draw{.kind = Draw::Kind::kUniform, .low = -m, .width = 2 * m};
  if (type == "Normal") return Draw{.kind = Draw::Kind::kNormal, .sigma = m};
  const bool normal = type.starts_with("Normal");
  const std::string_view whole = type;
  type.remove_prefix(normal ? 6 : type.starts_with("Uniform") ? 7 : type.size());
  const auto layout = [&] {
    for (const std::string_view name : {"Affine", "Convolution", "CLConv"}) {
      if (type.starts_with(name)) return type.substr(name.size());
    }
    return std::string_view();
  };
  const std::string_view rule = layout();
  const bool he = normal && (rule == "He" || rule == "HeForward");
  const bool backward = normal && rule == "HeBackward";
  FIRN_RETURN_IF(!he && !backward && rule != "Glorot",
                 InvalidArgument("initializer.type: expected Constant, Range, Uniform, Normal or "
                                 "one of those for layers, as NormalAffineGlorot, got ",
                                 JsonString(whole)));
  const std::optional<Fans> fans = FansOf(type, shape);
  FIRN_RETURN_IF(!fans,
                 InvalidArgument("shape: expected at least ", type.starts_with("Affine") ? 1 : 3,
                                 " dimensions for the initializer ", JsonString(whole), ", got ",
                                 shape.size()));
  const double n = fans->kernel * (he ? fans->in : backward ? fans->out : fans->in + fans->out);
  if (normal) {
    return Draw{
        .kind = Draw::Kind::kNormal, .sigma = std::sqrt(2 / n), .scale = initializer.multiplier};
  }
  const double limit = std::sqrt(6 / n);
  return Draw{.kind = Draw::Kind::kUniform,
              .low = -limit,
              .width = limit - -limit,
              .scale = initializer.multiplier};
}

Tensor Drawn(const Draw& draw, const Shape& shape, NumpyRandom* random) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  const int64_t last = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  for (size_t i = 0; i < values.size(); ++i) {
    switch (draw.kind) {
      case Draw::Kind::kConstant:
        values[i] = static_cast<float>(draw.low);
        break;
      case Draw::Kind::kRange:
        values[i] = static_cast<float>(static_cast<int64_t>(i) % last) * draw.scale;
        break;
      case Draw::Kind::kUniform:
        values[i] = static_cast<float>(draw.low + draw.width * random->Uniform()) * draw.scale;
        break;
      case Draw::Kind::kNormal:
        values[i] = static_cast<float>(random->Normal() * draw.sigma) * draw.scale;
        break;
    }
  }
  return FromVector(std::move(values), shape);
}

// Which function makes each variable, and the variables that no function takes.
struct Ends {
  explicit Ends(const nnabla::Network& network) {
    for (size_t i = 0; i < network.functions.size(); ++i) {
      for (const std::string& name : network.functions[i].output) maker.emplace(name, i);
      for (const std::string& name : network.functions[i].input) taken.insert(name);
    }
  }
  absl::flat_hash_map<std::string, size_t> maker;
  absl::flat_hash_set<std::string> taken;
};

std::vector<size_t> OrderOfNnabla(const nnabla::Network& network, const Ends& ends) {
  std::vector<size_t> stack, order;
  std::vector<bool> met(network.functions.size());
  for (const Variable& variable : network.variables) {
    const auto found = ends.maker.find(variable.name);
    if (variable.type != "Parameter" && !ends.taken.contains(variable.name) &&
        found != ends.maker.end()) {
      stack.push_back(found->second);
    }
  }
  while (!stack.empty()) {
    const size_t i = stack.back();
    stack.pop_back();
    if (met[i]) continue;
    std::vector<size_t> before;
    for (const std::string& name : network.functions[i].input) {
      const auto found = ends.maker.find(name);
      if (found != ends.maker.end() && !met[found->second]) before.push_back(found->second);
    }
    if (before.empty()) {
      met[i] = true;
      order.push_back(i);
      continue;
    }
    stack.push_back(i);
    stack.insert(stack.end(), before.begin(), before.end());
  }
  return order;
}

class Initial {
 public:
  Initial(const std::string& source, const StateDict& given, int64_t max_bytes)
      : source_(source), given_(given), left_(max_bytes) {}

  absl::Status Add(const nnabla::Network& network) {
    network_ = &network;
    absl::flat_hash_map<std::string, const Variable*> variables;
    for (const Variable& variable : network.variables) variables.emplace(variable.name, &variable);
    const Ends ends(network);
    // NNabla draws inputs before parameters. Data replaces the inputs, but the generator has moved
    // on.
    for (const Variable& variable : network.variables) {
      const bool is_input = variable.type != "Parameter" && ends.taken.contains(variable.name) &&
                            !ends.maker.contains(variable.name);
      if (!is_input || !variable.initializer || variable.initializer->type.empty()) continue;
      if (inputs_.insert(variable.name).second) FIRN_RETURN_IF_ERROR(Make(variable).status());
    }
    for (const size_t i : OrderOfNnabla(network, ends)) {
      for (const std::string& name : network.functions[i].input) {
        const auto found = variables.find(name);
        if (found == variables.end() || found->second->type != "Parameter") continue;
        FIRN_RETURN_IF_ERROR(Parameter(*found->second));
      }
    }
    return absl::OkStatus();
  }

  StateDict state;

 private:
  std::string At(const Variable& variable) const {
    return absl::StrCat(source_, ": network ", JsonString(network_->name), ", variable ",
                        JsonString(variable.name), ", ");
  }

  absl::StatusOr<Shape> ShapeOf(const Variable& variable) {
    const absl::StatusOr<Shape> shape = Shape::Make(variable.shape);
    FIRN_RETURN_IF(!shape.ok(),
                   InvalidArgument(At(variable), "shape: ", std::string(shape.status().message())));
    FIRN_RETURN_IF(shape->num_elements() > left_ / static_cast<int64_t>(sizeof(float)),
                   ResourceExhausted(At(variable), "shape: ", shape->ToString(),
                                     " is more than is left of limits.max_total_bytes"));
    left_ -= shape->num_elements() * static_cast<int64_t>(sizeof(float));
    return *shape;
  }

  absl::StatusOr<Tensor> Make(const Variable& variable) {
    FIRN_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(variable));
    const absl::StatusOr<Draw> draw =
        DrawOf(variable.initializer.value_or(nnabla::Initializer()), variable.shape);
    FIRN_RETURN_IF(!draw.ok(), InvalidArgument(At(variable), std::string(draw.status().message())));
    return Drawn(*draw, shape, &random_);
  }

  absl::Status Parameter(const Variable& variable) {
    const std::string name = nnabla::ParameterName(variable.name);
    if (state.Contains(name)) return absl::OkStatus();
    const Tensor* const given = given_.Find(name);
    const bool draws = variable.initializer && !variable.initializer->type.empty();
    FIRN_RETURN_IF(given == nullptr && !draws,
                   InvalidArgument(At(variable),
                                   "initializer: expected one, or a parameter of this name in a "
                                   "file of parameters, got neither"));
    Tensor value;
    // Given parameters do not change the draws of the others.
    if (draws) {
      FIRN_ASSIGN_OR_RETURN(value, Make(variable));
    }
    if (given != nullptr) {
      FIRN_RETURN_IF(
          !std::ranges::equal(given->shape(), variable.shape),
          InvalidArgument(At(variable), "shape: expected that of the parameter, ",
                          given->shape().ToString(), ", got ", Shape(variable.shape).ToString()));
      value = Cast(*given, DType::kF32).Detach();
    }
    state.Insert(name, value);
    return absl::OkStatus();
  }

  const std::string& source_;
  const StateDict& given_;
  int64_t left_;
  const nnabla::Network* network_ = nullptr;
  NumpyRandom random_{0};
  absl::flat_hash_set<std::string> inputs_;
};

absl::StatusOr<StateDict> InitialOf(const nnabla::Model& model, const std::string& source,
                                    const StateDict& given, const NnablaImportOptions& options) {
  nnabla::ExpandOptions expand = options.expand;
  expand.batch_size = options.batch_size;
  Initial initial(source, given, options.limits.max_total_bytes);
  for (const nnabla::Network& network : model.networks) {
    const absl::StatusOr<nnabla::Network> whole = nnabla::TryExpand(network, expand);
    if (!whole.ok()) {
      return absl::Status(whole.status().code(),
                          absl::StrCat(source, ": ", std::string(whole.status().message())));
    }
    FIRN_RETURN_IF_ERROR(initial.Add(*whole));
  }
  return std::move(initial.state);
}

}  // namespace

StateDict InitialNnablaParameters(const nnabla::Model& model, const std::string& source,
                                  const StateDict& given, const NnablaImportOptions& options) {
  return ValueOrRaise(InitialOf(model, source, given, options), "initial_parameters");
}

}  // namespace firn::io
