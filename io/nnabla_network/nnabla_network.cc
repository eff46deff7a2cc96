// Networks are expanded once; an executor takes its part of one.
#include "firn/io/nnabla_network/nnabla_network.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/internal/nnabla_definition.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;

absl::Status In(const std::string& source, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(source, ": ", status.message()));
}

absl::StatusOr<NnablaImport> Import(const nnabla::Model& model, const std::string& source,
                                    const NnablaImportOptions& options) {
  NnablaImport result;
  result.state = model.parameters;
  nnabla::ExpandOptions expand = options.expand;
  expand.batch_size = options.batch_size;
  std::vector<nnabla::Network> expanded;
  absl::flat_hash_map<std::string, size_t> places;
  absl::flat_hash_set<std::string> used;
  const auto add = [&](const std::string& name, size_t place, const std::string& at,
                       const internal::NnablaWanted& wanted,
                       std::vector<NnablaPart>* to) -> absl::Status {
    FIRN_ASSIGN_OR_RETURN(Network network,
                          internal::NnablaNetworkOf(expanded[place], wanted, result.state, at));
    for (const auto& entry : network.parameters()) used.insert(entry.first);
    to->push_back({name, expanded[place].name, std::move(network)});
    return absl::OkStatus();
  };
  for (const nnabla::Network& network : model.networks) {
    absl::StatusOr<nnabla::Network> whole = nnabla::TryExpand(network, expand);
    FIRN_RETURN_IF_ERROR(In(source, whole.status()));
    expanded.push_back(*std::move(whole));
    places.emplace(network.name, expanded.size() - 1);
  }
  FIRN_RETURN_IF_ERROR(internal::CheckNnablaFunctions(expanded, source));
  for (size_t i = 0; i < expanded.size(); ++i) {
    const std::string& name = model.networks[i].name;
    FIRN_RETURN_IF_ERROR(add(name, i, absl::StrCat(source, ": network ", JsonString(name)),
                             internal::EndsOf(expanded[i]), &result.networks));
  }
  for (const nnabla::Executor& executor : model.executors) {
    const auto place = places.find(executor.network_name);
    const std::string at = absl::StrCat(source, ": executor ", JsonString(executor.name));
    FIRN_RETURN_IF(place == places.end(),
                   InvalidArgument(at, ", network_name: expected a network of the file, got ",
                                   JsonString(executor.network_name)));
    internal::NnablaWanted wanted;
    for (const auto& variable : executor.data_variable) {
      wanted.inputs.push_back(variable.variable_name);
    }
    for (const auto& variable : executor.output_variable) {
      wanted.outputs.push_back(variable.variable_name);
    }
    wanted.generators = executor.generator_variable;
    FIRN_RETURN_IF_ERROR(add(executor.name, place->second,
                             absl::StrCat(at, ", network ", JsonString(executor.network_name)),
                             wanted, &result.executors));
  }
  for (const auto& entry : result.state) {
    if (!used.contains(entry.first)) {
      result.report.push_back(
          absl::StrCat("parameter ", JsonString(entry.first), " is of no network"));
    }
  }
  return result;
}

}  // namespace

NnablaImport ImportNnablaModel(const nnabla::Model& model, const std::string& source,
                               const NnablaImportOptions& options) {
  return ValueOrRaise(Import(model, source, options), "ImportNnabla");
}

NnablaImport ImportNnabla(const std::string& path, const NnablaImportOptions& options) {
  return ImportNnablaModel(LoadNnabla(path, {.limits = options.limits, .want = {}}), path, options);
}

}  // namespace firn::io
