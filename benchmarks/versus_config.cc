// One table has each workload's standard sizes; sizes that a text does not give are the first ones
// of its workload.
#include "benchmarks/versus_config.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "firn/device/status_macros.h"

namespace firn::benchmarks {
namespace {

struct Standard {
  const char* name;
  TrainerData data;
  std::vector<VersusConfig> standard;
  bool only_by_name = false;
};

const std::vector<Standard>& Standards() {
  static const auto& all = *new std::vector<Standard>{
      {"deep_cnn",
       TrainerData::kDigits,
       {{"deep_cnn", 10, 16},
        {"deep_cnn", 10, 64},
        {"deep_cnn", 10, 256},
        {"deep_cnn", 30, 16},
        {"deep_cnn", 30, 64},
        {"deep_cnn", 30, 256}}},
      {"lenet", TrainerData::kHash, {{"lenet", 0, 64}}},
      {"resnet", TrainerData::kHash, {{"resnet", 0, 64}}},
      {"resnet18", TrainerData::kHash, {{"resnet18", 0, 128}}, true},
      {"mlp", TrainerData::kDigits, {{"mlp", 0, 1}}},
      {"changing_cnn", TrainerData::kDigits, {{"changing_cnn", 10, 64}}},
  };
  return all;
}

const Standard* FindStandard(const std::string& name) {
  const auto& all = Standards();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Standard& w) { return w.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string Names(bool all) {
  std::vector<std::string> names;
  for (const Standard& w : Standards()) {
    if (all || !w.only_by_name) names.push_back(w.name);
  }
  return absl::StrJoin(names, ",");
}

absl::Status SetSize(const std::string& size, const std::string& text, VersusConfig* config) {
  int64_t number = 0;
  const bool depth = size.starts_with("d") && config->depth != 0;
  const bool known = depth || size.starts_with("b");
  FIRN_RETURN_IF(!known || !absl::SimpleAtoi(size.substr(1), &number) || number < 1,
                 InvalidArgument("bad size '", size, "' in '", text, "' (want ",
                                 config->depth == 0 ? "" : "dDEPTH or ", "bBATCH)"));
  (depth ? config->depth : config->batch) = number;
  return absl::OkStatus();
}

}  // namespace

std::string VersusConfig::Label() const {
  return absl::StrCat(workload, depth == 0 ? "" : absl::StrCat("/d", depth), "/b", batch);
}

TrainerOptions VersusConfig::Options(bool frozen) const {
  const Standard* known = FindStandard(workload);
  return {.workload = workload,
          .depth = depth,
          .batch = batch,
          .frozen = frozen,
          .data = known == nullptr ? TrainerData::kHash : known->data};
}

absl::StatusOr<std::vector<VersusConfig>> ParseConfigs(const std::string& list) {
  std::vector<VersusConfig> configs;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(list, ','))) {
    const std::vector<std::string> parts = absl::StrSplit(text, '/');
    const Standard* workload = FindStandard(parts[0]);
    FIRN_RETURN_IF(workload == nullptr, InvalidArgument("there is no workload '", parts[0],
                                                        "' (want some of ", Names(true), ")"));
    if (parts.size() == 1) {
      configs.insert(configs.end(), workload->standard.begin(), workload->standard.end());
      continue;
    }
    VersusConfig config = workload->standard[0];
    if (config.depth != 0) config.batch = 64;
    for (size_t i = 1; i < parts.size(); ++i) {
      FIRN_RETURN_IF_ERROR(SetSize(parts[i], text, &config));
    }
    configs.push_back(std::move(config));
  }
  return configs;
}

std::string StandardConfigs() { return Names(false); }

}  // namespace firn::benchmarks
