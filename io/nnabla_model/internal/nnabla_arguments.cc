// Functions' and solvers' arguments, on their way from messages and to them.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/internal/nnabla_functions.h"
#include "firn/io/nnabla_model/internal/nnabla_schema.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;
using Arguments = std::vector<nnabla::Argument>;
using Kinds = std::vector<NnablaKind>;

absl::Status Finish(const Kinds& kinds, const std::string& type, Arguments* arguments) {
  const NnablaKind* kind = FindKind(kinds, type);
  if (arguments->empty()) {
    return kind == nullptr ? absl::OkStatus() : CompleteArguments(*kind, arguments);
  }
  const std::string& field = (*arguments)[0].name;
  const std::string none = kind == nullptr ? "none, as there is no such type in NNabla 1.39"
                                           : "none, as it takes no arguments";
  FIRN_RETURN_IF(
      kind == nullptr || kind->field != field,
      DataLoss("type ", JsonString(type), ": expected ",
               kind == nullptr || kind->field.empty() ? none : kind->field, ", got ", field));
  arguments->erase(arguments->begin());
  return absl::OkStatus();
}

absl::Status Mark(const Kinds& kinds, const std::string& type, Arguments* arguments) {
  const NnablaKind* kind = FindKind(kinds, type);
  FIRN_RETURN_IF(kind == nullptr && !arguments->empty(),
                 InvalidArgument("NNabla 1.39 has no type ", JsonString(type)));
  if (kind == nullptr) return absl::OkStatus();
  FIRN_RETURN_IF_ERROR(CompleteArguments(*kind, arguments));
  if (!kind->field.empty()) arguments->insert(arguments->begin(), {kind->field, false});
  return absl::OkStatus();
}

// Calls `f` with each function's and solver's kinds, type and arguments.
template <class F>
absl::Status ForEach(nnabla::Model* model, F f) {
  const auto in = [](const std::string& place, const absl::Status& status) {
    return status.ok() ? status
                       : absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
  };
  for (nnabla::Network& network : model->networks) {
    for (size_t i = 0; i < network.functions.size(); ++i) {
      nnabla::Function& function = network.functions[i];
      const absl::Status done = f(NnablaFunctions(), function.type, &function.arguments);
      if (done.ok()) continue;
      return in(absl::StrCat("network ", JsonString(network.name), ", function ", i, " (",
                             JsonString(function.name), ")"),
                done);
    }
  }
  for (nnabla::Optimizer& optimizer : model->optimizers) {
    if (!optimizer.solver) continue;
    FIRN_RETURN_IF_ERROR(
        in(absl::StrCat("optimizer ", JsonString(optimizer.name)),
           f(NnablaSolvers(), optimizer.solver->type, &optimizer.solver->arguments)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FinishArguments(nnabla::Model* model) { return ForEach(model, Finish); }

absl::Status MarkArguments(nnabla::Model* model) { return ForEach(model, Mark); }

}  // namespace firn::io::internal
