// Memory is what the allocator has handed out above what was live before the mode's trainer was
// made; each mode's is measured in steps of its own, before the race.
#include "benchmarks/versus_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <utility>

#include "benchmarks/versus_machine.h"
#include "device/cpu_allocator.h"
#include "device/status_macros.h"

namespace firn::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kMinSteps = 2, kMaxSteps = 2000;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double PeakMbAbove(int64_t live_bytes) {
  return static_cast<double>(CpuAllocator().stats().peak_bytes - live_bytes) / 0x1p20;
}

// Times of `steps` steps. The loss is read on the last one only, as a loop that logs now and then
// would.
std::vector<double> TimedBlock(Trainer& trainer, int64_t steps) {
  std::vector<double> times;
  for (int64_t i = 0; i < steps; ++i) {
    const Clock::time_point start = Clock::now();
    const Tensor loss = trainer.Step();
    if (i == steps - 1) static_cast<void>(loss.Item());
    times.push_back(MillisecondsSince(start));
  }
  return times;
}

// One mode of a configuration while it is measured.
struct Contender {
  std::unique_ptr<Trainer> trainer;
  int64_t live_before = 0;  // bytes, without the trainer
  VersusMode result;
  double first_peak_mb = 0;  // of the first step
  double usual_ms = 0;       // a step, roughly

  // Makes the trainer anew and does its first step.
  absl::Status Start(const VersusConfig& config, bool frozen) {
    trainer = nullptr;
    live_before = CpuAllocator().stats().live_bytes;
    FIRN_ASSIGN_OR_RETURN(trainer, Trainer::Make(config.Options(frozen)));
    CpuAllocator().ResetPeak();
    result.losses = {trainer->Step().Item()};
    first_peak_mb = PeakMbAbove(live_before);
    return absl::OkStatus();
  }

  void WarmUp(const VersusSettings& settings) {
    while (static_cast<int64_t>(result.losses.size()) < settings.loss_steps) {
      result.losses.push_back(trainer->Step().Item());
    }
    CpuAllocator().ResetPeak();
    std::vector<double> times = TimedBlock(*trainer, kMinSteps);
    result.peak_mb = PeakMbAbove(live_before);
    const Clock::time_point start = Clock::now();
    while (MillisecondsSince(start) < settings.block_seconds * 1e3 &&
           static_cast<int64_t>(times.size()) < kMaxSteps) {
      times.push_back(TimedBlock(*trainer, 1)[0]);
    }
    usual_ms = Median(times);
  }

  void RunBlock(int64_t steps) { result.blocks.push_back(TimedBlock(*trainer, steps)); }
};

// Captures anew a few times, since one time tells little on a machine that others use.
absl::Status StartFrozen(const VersusSettings& settings, Contender& frozen, VersusResult& result) {
  std::vector<double> capture_ms, compile_ms;
  for (int i = 0; i < settings.captures; ++i) {
    FIRN_RETURN_IF_ERROR(frozen.Start(result.config, true));
    capture_ms.push_back(frozen.trainer->capture_ms());
    compile_ms.push_back(frozen.trainer->compile_ms());
  }
  result.capture_ms = Median(capture_ms);
  result.compile_ms = Median(compile_ms);
  result.capture_peak_mb = frozen.first_peak_mb;
  frozen.WarmUp(settings);
  return absl::OkStatus();
}

int64_t StepsOfBlock(const std::vector<Contender*>& racing, const VersusSettings& settings) {
  if (settings.steps > 0) return settings.steps;
  double slowest_ms = 0;
  for (const Contender* c : racing) slowest_ms = std::max(slowest_ms, c->usual_ms);
  const double steps = std::round(settings.block_seconds * 1e3 / std::max(slowest_ms, 1e-3));
  return std::clamp(static_cast<int64_t>(steps), kMinSteps, kMaxSteps);
}

// Returns the median share of the machine that others used.
double Race(std::vector<Contender*> racing, const VersusSettings& settings) {
  const int64_t steps = StepsOfBlock(racing, settings);
  std::mt19937_64 random(1);
  std::vector<double> others;
  for (int round = 0; round < settings.rounds; ++round) {
    std::shuffle(racing.begin(), racing.end(), random);
    for (Contender* c : racing) {
      const OthersLoad load;
      c->RunBlock(steps);
      others.push_back(load.Share());
    }
  }
  return Median(others);
}

}  // namespace

std::optional<int64_t> VersusResult::PaysOffAfter() const {
  if (!frozen.has_value()) return std::nullopt;
  const double step_ms = Summarize(dynamic.blocks).median_ms;
  const double gain_ms = step_ms - Summarize(frozen->blocks).median_ms;
  if (gain_ms <= 0) return std::nullopt;
  const double cost_ms = std::max(capture_ms + compile_ms - step_ms, 0.0);
  return static_cast<int64_t>(std::ceil(cost_ms / gain_ms));
}

double VersusResult::LossGap() const {
  double gap = 0;
  if (!frozen.has_value()) return gap;
  for (size_t i = 0; i < std::min(dynamic.losses.size(), frozen->losses.size()); ++i) {
    const double a = frozen->losses[i], b = dynamic.losses[i];
    if (!(a == b)) gap = std::max(gap, std::abs(a - b) / std::max(std::abs(b), 1e-3));
    if (std::isnan(a - b)) return std::nan("");
  }
  return gap;
}

absl::StatusOr<VersusResult> RunVersus(const VersusConfig& config, const VersusSettings& settings) {
  FIRN_RETURN_IF(
      settings.rounds < 1 || settings.captures < 1 || settings.loss_steps < 1 || settings.steps < 0,
      InvalidArgument("rounds, captures and loss steps must be at least 1, steps at least 0"));
  VersusResult result;
  result.config = config;
  Contender dynamic, frozen;
  FIRN_RETURN_IF_ERROR(dynamic.Start(config, false));
  dynamic.WarmUp(settings);
  std::vector<Contender*> racing = {&dynamic};
  if (!config.changes()) {
    FIRN_RETURN_IF_ERROR(StartFrozen(settings, frozen, result));
    racing.push_back(&frozen);
  }
  result.others = Race(racing, settings);
  result.dynamic = std::move(dynamic.result);
  if (frozen.trainer != nullptr) result.frozen = std::move(frozen.result);
  return result;
}

}  // namespace firn::benchmarks
