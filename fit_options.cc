// Helpers of the loop in fit.cc: options are checked and filled in, and a line of text is made.
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <ostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/shared_status.h"
#include "firn/fit_agreement.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/metrics/merge_ranks.h"
#include "firn/io/metrics/running_mean.h"
#include "firn/tensor/error.h"
#include "firn/tensor/global_number.h"
#include "firn/tensor/state_dict.h"

namespace firn {

std::string FitEpoch::ToString() const {
  std::string text = absl::StrFormat("epoch %d: loss %.4f", epoch + 1, loss);
  if (validation.samples > 0)
    absl::StrAppendFormat(&text, ", validation loss %.4f", validation.loss);
  const bool has_metric = validation.metric == validation.metric;
  if (has_metric) absl::StrAppendFormat(&text, ", metric %.4f", validation.metric);
  if (averaged) absl::StrAppend(&text, " of the average");
  return text;
}

StateDict FitEpoch::state_dict() const {
  io::CheckpointValues values;
  values.Set("number", epoch);
  values.Set("samples", samples);
  values.Set("loss", loss);
  values.Set("lost", lost);
  return values.state_dict();
}

void FitEpoch::LoadStateDict(const StateDict& state) {
  io::CheckpointValues values;
  values.LoadStateDict(state);
  *this = {.epoch = values.GetInteger("number"),
           .samples = values.GetInteger("samples"),
           .loss = values.GetReal("loss"),
           .watch = watch,
           .lost = state.Contains("lost") ? values.GetInteger("lost") : 0};
}

namespace inner::internal {
namespace {

// An error that all ranks throw.
class ErrorOnAll : public Error {
 public:
  ErrorOnAll(const Error& error, const comm::Communicator* of) : Error(error), ranks(of) {}
  const comm::Communicator* ranks;  // the ranks that throw it; a Fit within another has its own
};

FitOptions Checked(FitOptions o, nn::Module& net, const io::DataLoader& train) {
  const auto want = [](bool ok, const auto&... what) {
    if (!ok) RaiseStatus(absl::InvalidArgumentError(absl::StrCat(what...)), "fit");
  };
  want(o.epochs >= 0, "epochs is ", o.epochs, " (want >= 0)");
  want(!o.schedule || !o.plateau, "there are a schedule and a plateau (want one of them)");
  const bool maximize = o.watch == FitWatch::kHighestMetric;
  want(!o.plateau || !o.plateau->maximize || maximize,
       "plateau.maximize is set, but what is watched is to become low");
  if (o.plateau) o.plateau->maximize = maximize;
  want(o.watch == FitWatch::kLoss ||
           (o.validation != nullptr && (o.metric || (!o.loss && !o.forward))),
       "watch asks for a metric, but there is no validation with one");
  want(!o.autocast || *o.autocast == DType::kF16 || *o.autocast == DType::kBF16,
       "autocast is to a type that is no half type (want kF16 or kBF16)");
  want(o.clip_norm >= 0, "clip_norm is ", o.clip_norm, " (want >= 0)");
  want(o.accumulate >= 1, "accumulate is ", o.accumulate, " (want >= 1)");
  want(o.patience >= 0, "patience is ", o.patience, " (want >= 0)");
  want(o.checkpoint_every >= 0, "checkpoint_every is ", o.checkpoint_every, " (want >= 0)");
  want(o.checkpoint_every == 0 || !o.folder.empty(), "checkpoint_every is ", o.checkpoint_every,
       ", but there is no folder for checkpoints");
  want(train.size() > 0, "the training loader has no batches");
  want(train.options().last != io::LastBatch::kWrap ||
           train.options().batch <= train.dataset().size(),
       "the training loader wraps batches of ", train.options().batch, " around ",
       train.dataset().size(), " samples, so that epochs have none");
  want(o.validation == nullptr || o.validation->size() > 0, "the validation loader has no batches");
  want(o.validation != &train, "training and validation have one loader (want one for each)");
  want(o.validation != nullptr || !o.metric,
       "there is a metric, but no validation to compute it of");
  want(o.progress.quiet || o.progress.out != nullptr, "progress.out is null");

  for (const io::DataLoader* loader : {&train, static_cast<const io::DataLoader*>(o.validation)}) {
    if (o.ranks == nullptr || loader == nullptr) continue;
    const io::Shard shard = loader->options().shard;
    want(shard.rank == o.ranks->rank() && shard.count == o.ranks->size(), "a loader's shard is {",
         shard.rank, ", ", shard.count, "}, this is rank ", o.ranks->rank(), " of ",
         o.ranks->size());
  }
  o.progress.quiet = o.progress.quiet || !IsFirst(o);

  o.forward = CheckedForward(net, o.forward, o.loss, "fit");
  if (o.patience == 0) o.patience = std::numeric_limits<int64_t>::max();
  if (!o.progress.quiet) {
    o.on_epoch = [out = o.progress.out, then = std::move(o.on_epoch)](const FitEpoch& epoch) {
      *out << epoch.ToString() << std::endl;
      if (then) then(epoch);
    };
  }
  return o;
}

}  // namespace

void RaiseOnAll(const absl::Status& status, const comm::Communicator* ranks) {
  try {
    RaiseStatus(status, "fit");
  } catch (const Error& error) {
    throw ErrorOnAll(error, ranks);
  }
}

FitOptions CheckedOptions(FitOptions options, nn::Module& net, const io::DataLoader& train) {
  comm::Communicator* const ranks = options.ranks;
  if (ranks == nullptr) return Checked(std::move(options), net, train);
  FitOptions checked;
  std::optional<Error> own;
  try {
    checked = Checked(std::move(options), net, train);
  } catch (const Error& error) {
    own = error;
  }
  const absl::Status of_all = comm::StatusOfAll(*ranks, own ? own->status() : absl::OkStatus());
  if (own) throw ErrorOnAll(*own, ranks);
  if (!of_all.ok()) RaiseOnAll(of_all, ranks);
  return checked;
}

void TellRanks(comm::Communicator* ranks) {
  if (ranks == nullptr) throw;
  try {
    throw;
  } catch (const ErrorOnAll& e) {
    if (e.ranks != ranks) ranks->Abort(e.what());
    throw;
  } catch (const std::exception& e) {
    ranks->Abort(e.what());
    throw;
  } catch (...) {
    ranks->Abort("fit ends by an exception");
    throw;
  }
}

optim::LossScalerOptions ScalerOptions(const FitOptions& options) {
  optim::LossScalerOptions scale;  // captured steps, whose gradients agree already, cannot ask
  if (options.ranks != nullptr && !options.frozen) scale.global = OfAllRanks(*options.ranks);
  return scale;
}

bool IsFirst(const FitOptions& options) {
  return options.ranks == nullptr || options.ranks->rank() == 0;
}

double AddLoss(const Tensor& loss, int64_t samples, FitEpoch& epoch, comm::Communicator* ranks) {
  double value = loss.Item();
  if (ranks != nullptr) {
    io::RunningMean own;
    own.Update(value, static_cast<double>(samples));  // a rank without samples has no loss
    const io::RunningMean all = io::MergeRanks(own, *ranks);
    value = all.Value(), samples = static_cast<int64_t>(all.weight());
  }
  if (!std::isfinite(value)) {
    if (epoch.samples == 0) epoch.loss = value;
    return value;
  }
  if (epoch.samples == 0) epoch.loss = 0;
  epoch.samples += samples;
  epoch.loss += (value - epoch.loss) * double(samples) / double(epoch.samples);
  return value;
}

int64_t CheckLoss(double loss, int64_t lost, const FitEpoch& epoch, const FitOptions& options) {
  constexpr int64_t kMostLeftOut = 20;
  if (std::isfinite(loss)) return 0;
  if (options.autocast == DType::kF16 && lost + 1 < kMostLeftOut) return lost + 1;
  RaiseOnAll(
      absl::FailedPreconditionError(absl::StrCat(
          "the run has diverged: the loss is ", std::isnan(loss) ? "NaN" : "infinite", " in epoch ",
          epoch.epoch + 1, ", step ", epoch.step + 1, ", at a rate of ", epoch.lr,
          ". Try a smaller rate or one that warms up (optim::WarmupLr), a clip_norm, and whether "
          "the data hold NaN or infinity; AnomalyScope names the operation that made the first one",
          options.folder.empty() ? ""
                                 : ". Checkpoints of the steps before are in " + options.folder)),
      options.ranks);
}

}  // namespace inner::internal

}  // namespace firn
