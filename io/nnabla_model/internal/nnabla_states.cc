// A file of a solver's states has a group for each parameter, and in it the count of steps `t` and
// the states: /conv1/conv/W/{t,mean,var}.
#include "firn/io/nnabla_model/internal/nnabla_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

absl::Status In(const std::string& place, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(place, ": ", std::string(status.message())));
}

absl::Status AddState(const std::string& state, const Tensor& tensor, nnabla::SolverState* out) {
  if (state == "t") {
    FIRN_RETURN_IF(tensor.dtype() != DType::kI64 || tensor.rank() != 0,
                   DataLoss("expected one number of the type i64"));
    int64_t t = 0;
    std::memcpy(&t, tensor.impl()->data, sizeof(t));
    FIRN_RETURN_IF(t < 0 || t >= int64_t{1} << 32,
                   DataLoss("expected a number from 0 to 2^32 - 1, got ", t));
    out->t = static_cast<uint32_t>(t);
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(tensor.dtype() != DType::kF32, DataLoss("expected numbers of the type f32"));
  const auto sizes = tensor.shape().span();
  nnabla::StateParameter& added = out->state.emplace_back();
  added.name = state;
  added.shape.assign(sizes.begin(), sizes.end());
  added.data.resize(static_cast<size_t>(tensor.num_elements()));
  if (!added.data.empty()) {
    std::memcpy(added.data.data(), tensor.impl()->data, added.data.size() * sizeof(float));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> CheckNnablaShape(const std::vector<int64_t>& sizes, size_t data) {
  const bool damaged = std::any_of(sizes.begin(), sizes.end(), [](int64_t n) { return n < 0; });
  FIRN_RETURN_IF(damaged, DataLoss("shape: expected no size below 0"));
  FIRN_RETURN_IF(
      sizes.size() > static_cast<size_t>(kMaxRank),
      Unimplemented("shape: expected at most ", kMaxRank, " dimensions, got ", sizes.size()));
  const absl::StatusOr<Shape> made = Shape::Make(sizes);
  FIRN_RETURN_IF(!made.ok(), DataLoss("shape: ", std::string(made.status().message())));
  const Shape& shape = *made;
  FIRN_RETURN_IF(shape.num_elements() != static_cast<int64_t>(data),
                 DataLoss("data: expected ", shape.num_elements(), " numbers as the shape says, ",
                          "got ", data));
  return shape;
}

absl::Status CheckSolverStates(nnabla::Solver* solver, const std::string& name,
                               const std::string& optimizer) {
  absl::flat_hash_set<std::string> names;
  for (nnabla::SolverState& state : solver->states) {
    const std::string where = absl::StrCat(name, ": optimizer ", JsonString(optimizer),
                                           ", solver.states, ", JsonString(state.parameter));
    state.parameter = nnabla::ParameterName(state.parameter);
    FIRN_RETURN_IF(!names.insert(state.parameter).second,
                   DataLoss(where, ": expected different keys, got it twice"));
    for (const nnabla::StateParameter& p : state.state) {
      FIRN_RETURN_IF_ERROR(In(absl::StrCat(where, ", ", JsonString(p.name)),
                              CheckNnablaShape(p.shape, p.data.size()).status()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<nnabla::SolverState>> StatesOf(const StateDict& state,
                                                          const std::string& name) {
  std::vector<nnabla::SolverState> states;
  absl::flat_hash_set<std::string> parameters;
  for (const auto& [entry, tensor] : state) {
    const size_t dot = entry.rfind('.');
    FIRN_RETURN_IF(dot == std::string::npos, DataLoss(name, ": entry ", JsonString(entry),
                                                      ": expected a state in a parameter's group"));
    const std::string parameter = entry.substr(0, dot);
    if (states.empty() || states.back().parameter != parameter) {
      FIRN_RETURN_IF(!parameters.insert(parameter).second,
                     DataLoss(name, ": entry ", JsonString(entry),
                              ": expected a parameter's states side by side"));
      states.push_back({.parameter = parameter, .t = 0, .state = {}});
    }
    FIRN_RETURN_IF_ERROR(In(absl::StrCat(name, ": entry ", JsonString(entry)),
                            AddState(entry.substr(dot + 1), tensor, &states.back())));
  }
  return states;
}

}  // namespace firn::io::internal
