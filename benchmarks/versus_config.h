#ifndef FIRN_BENCHMARKS_VERSUS_CONFIG_H_
#define FIRN_BENCHMARKS_VERSUS_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/trainer.h"

namespace firn::benchmarks {

// One training that static_vs_dynamic times. A plain value.
struct VersusConfig {
  std::string workload;
  int64_t depth = 0;  // 0 where the model has none
  int64_t batch = 64;

  // "deep_cnn/d10/b64", which ParseConfigs reads; compare.py writes the same.
  std::string Label() const;
  // The network differs in every step: only the dynamic mode runs it.
  bool changes() const { return workload == "changing_cnn"; }
  // Images of 8x8 pixels are the bundled digits; those of 28x28 come from hash_values.h.
  TrainerOptions Options(bool frozen) const;

  friend bool operator==(const VersusConfig&, const VersusConfig&) = default;
};

// A comma-separated list of NAME[/dDEPTH][/bBATCH]; a bare name stands for its standard sizes.
// InvalidArgument, with the text, for anything else.
absl::StatusOr<std::vector<VersusConfig>> ParseConfigs(const std::string& list);

// The names of the workloads that are timed by default, as such a list: all but resnet18, which
// takes a CPU minutes.
std::string StandardConfigs();

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_VERSUS_CONFIG_H_
