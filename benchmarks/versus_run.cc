// Memory is what the allocator has handed out above what was live before the mode's trainer was
// made; each mode's is measured in steps of its own, before the race.
#include "benchmarks/versus_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <utility>

#include "benchmarks/step_timer.h"
#include "benchmarks/versus_machine.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"

namespace firn::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kMinSteps = 2, kMaxSteps = 2000, kStepsBetweenLooks = 10;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One mode of a configuration while it is measured.
struct Contender {
  const VersusSettings& settings;
  Allocator& allocator;
  StepTimer timer;
  std::unique_ptr<Trainer> trainer = nullptr;
  int64_t live_before = 0;  // bytes, without the trainer
  VersusMode result = {};
  double first_peak_mb = 0;  // of the first step
  double usual_ms = 0;       // a step, roughly

  static absl::StatusOr<Contender> Make(const VersusSettings& settings) {
    FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(settings.device));
    return Contender{settings, context->allocator(), StepTimer(*context)};
  }

  double PeakMb() const {
    return static_cast<double>(allocator.stats().peak_bytes - live_before) / 0x1p20;
  }

  // Makes the trainer anew and does its first step.
  absl::Status Start(const VersusConfig& config, bool frozen) {
    trainer = nullptr;
    live_before = allocator.stats().live_bytes;
    TrainerOptions options = config.Options(frozen);
    options.device = settings.device;
    options.autocast = AutocastDtype(settings.precision);
    FIRN_ASSIGN_OR_RETURN(trainer, Trainer::Make(options));
    allocator.ResetPeak();
    result.losses = {trainer->Step().Item()};
    first_peak_mb = PeakMb();
    return absl::OkStatus();
  }

  absl::Status WarmUp() {
    while (static_cast<int64_t>(result.losses.size()) < settings.loss_steps) {
      result.losses.push_back(trainer->Step().Item());
    }
    allocator.ResetPeak();
    FIRN_ASSIGN_OR_RETURN(TimedSteps first, timer.Run(*trainer, kMinSteps));
    result.peak_mb = PeakMb();
    std::vector<double> times = std::move(first.ms);
    // A wait after each step would make a device slower than it is later.
    const int64_t at_once = settings.device.is_cuda() ? kStepsBetweenLooks : 1;
    const Clock::time_point start = Clock::now();
    while (MillisecondsSince(start) < settings.block_seconds * 1e3 &&
           static_cast<int64_t>(times.size()) < kMaxSteps) {
      FIRN_ASSIGN_OR_RETURN(const TimedSteps more, timer.Run(*trainer, at_once));
      times.insert(times.end(), more.ms.begin(), more.ms.end());
    }
    usual_ms = Median(times);
    return absl::OkStatus();
  }

  absl::Status RunBlock(int64_t steps) {
    FIRN_ASSIGN_OR_RETURN(TimedSteps block, timer.Run(*trainer, steps));
    result.blocks.push_back(std::move(block.ms));
    result.wall_ms.push_back(block.wall_ms / static_cast<double>(steps));
    result.waits = std::max(result.waits, block.waits);
    return absl::OkStatus();
  }
};

// Captures anew a few times: a single measurement is not reliable on a machine that others use.
absl::Status StartFrozen(Contender& frozen, VersusResult& result) {
  std::vector<double> capture_ms, compile_ms;
  for (int i = 0; i < frozen.settings.captures; ++i) {
    FIRN_RETURN_IF_ERROR(frozen.Start(result.config, true));
    capture_ms.push_back(frozen.trainer->capture_ms());
    compile_ms.push_back(frozen.trainer->compile_ms());
  }
  result.capture_ms = Median(capture_ms);
  result.compile_ms = Median(compile_ms);
  result.capture_peak_mb = frozen.first_peak_mb;
  return frozen.WarmUp();
}

int64_t StepsOfBlock(const std::vector<Contender*>& racing, const VersusSettings& settings) {
  if (settings.steps > 0) return settings.steps;
  double slowest_ms = 0;
  for (const Contender* c : racing) slowest_ms = std::max(slowest_ms, c->usual_ms);
  const double steps = std::round(settings.block_seconds * 1e3 / std::max(slowest_ms, 1e-3));
  return std::clamp(static_cast<int64_t>(steps), kMinSteps, kMaxSteps);
}

// Returns the median share of the machine that others used.
absl::StatusOr<double> Race(std::vector<Contender*> racing, const VersusSettings& settings) {
  const int64_t steps = StepsOfBlock(racing, settings);
  std::mt19937_64 random(1);
  std::vector<double> others;
  for (int round = 0; round < settings.rounds; ++round) {
    std::shuffle(racing.begin(), racing.end(), random);
    for (Contender* c : racing) {
      const OthersLoad load;
      FIRN_RETURN_IF_ERROR(c->RunBlock(steps));
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
  FIRN_ASSIGN_OR_RETURN(Contender dynamic, Contender::Make(settings));
  FIRN_ASSIGN_OR_RETURN(Contender frozen, Contender::Make(settings));
  FIRN_RETURN_IF_ERROR(dynamic.Start(config, false));
  FIRN_RETURN_IF_ERROR(dynamic.WarmUp());
  std::vector<Contender*> racing = {&dynamic};
  if (!config.changes()) {
    FIRN_RETURN_IF_ERROR(StartFrozen(frozen, result));
    racing.push_back(&frozen);
  }
  FIRN_ASSIGN_OR_RETURN(result.others, Race(racing, settings));
  result.dynamic = std::move(dynamic.result);
  if (frozen.trainer != nullptr) result.frozen = std::move(frozen.result);
  return result;
}

}  // namespace firn::benchmarks
