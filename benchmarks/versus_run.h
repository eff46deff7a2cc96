#ifndef FIRN_BENCHMARKS_VERSUS_RUN_H_
#define FIRN_BENCHMARKS_VERSUS_RUN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/precision.h"
#include "benchmarks/versus_config.h"
#include "benchmarks/versus_stats.h"
#include "firn/device/device.h"

namespace firn::benchmarks {

struct VersusSettings {
  int rounds = 12;           // a block of each mode in each
  int64_t steps = 0;         // in a block; 0: as many as take the slower mode block_seconds
  double block_seconds = 1;  // also the longest that a mode warms up
  int captures = 3;          // whose times are told by their medians
  int64_t loss_steps = 20;   // at the start, whose losses are compared; they are not timed
  Device device = Device::Cpu();
  Precision precision = Precision::kDefault;  // of the trainers; SetPrecision is the caller's
};

// What was measured of one mode.
struct VersusMode {
  Blocks blocks;       // by StepTimer: the device's events, or the clock
  double peak_mb = 0;  // most of the device's memory of tensors and graphs in a step, in MiB
  std::vector<double> losses;        // of the first steps
  std::vector<double> wall_ms = {};  // a step of each block, by the clock
  int64_t waits = 0;                 // for the device in a block, without that for its last loss
};

// What was measured of one configuration.
struct VersusResult {
  VersusConfig config;
  VersusMode dynamic;
  std::optional<VersusMode> frozen;  // empty for a network that changes
  double capture_ms = 0;             // the time of the recorded step
  double compile_ms = 0;             // from the record to a graph that runs
  double capture_peak_mb = 0;        // as VersusMode::peak_mb, of the captured step and compiling
  double others = 0;                 // share of the machine that others used, a median of blocks

  // Steps until freezing has cost less time than it saved: the captured step may take longer than
  // an ordinary one, and compiling comes on top. Empty if frozen steps are not faster.
  std::optional<int64_t> PaysOffAfter() const;
  // The largest relative difference between losses of the two modes; 0: all are equal.
  double LossGap() const;
};

// Trains `config` in both modes, in one process: blocks of steps alternate in random order. The
// dynamic mode runs first, so captured steps find the libraries and the allocator warm. Passes
// exceptions of training on.
absl::StatusOr<VersusResult> RunVersus(const VersusConfig& config, const VersusSettings& settings);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_VERSUS_RUN_H_
