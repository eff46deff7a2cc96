#ifndef FIRN_FIT_H_
#define FIRN_FIT_H_

// Trains in one call, for one network, one loss and one optimizer:
//
//   io::DataLoader train(io::Digits({.part = kTrain}), {.batch = 64, .shuffle = true});
//   io::DataLoader test(io::Digits({.part = kTest}), {.batch = 500});
//   Fit(net, adam, train, {.epochs = 20, .validation = &test, .folder = "run"});
//
// fit.cc is short and written to be read: it uses only what firn.h offers to every program, so that
// your own loop may begin as a copy of it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firn/evaluate.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/progress/progress.h"
#include "firn/nn/module.h"
#include "firn/optim/loss_scaler.h"
#include "firn/optim/optimizer.h"
#include "firn/optim/schedule.h"
#include "firn/optim/scheduler.h"
#include "firn/optim/weight_average.h"
#include "firn/tensor/state_dict.h"

namespace firn {

// The number by which one epoch is better than another.
enum class FitWatch : uint8_t {
  kLoss,           // the validation's loss, lower is better; without a validation the training's
  kHighestMetric,  // of the validation
  kLowestMetric,
};

// The report on an epoch.
struct FitEpoch {
  int64_t epoch = 0;    // counted from 0
  int64_t step = 0;     // steps of the optimizer up to its end
  int64_t samples = 0;  // that it trained with
  double loss = 0;      // mean over them, each as the network was at its step
  double lr = 0;        // of the first group, at the last step
  Evaluation validation = {};
  bool averaged = false;  // the validation used FitOptions::average and not the weights themselves
  FitWatch watch = FitWatch::kLoss;
  int64_t lost = 0;  // steps in a row, up to the epoch's last one, without a finite loss

  // "epoch 1: loss 0.5123, validation loss 0.4012, metric 0.8990", counted from 1 here; what is NaN
  // is left out of the validation, and "of the average" says so.
  std::string ToString() const;
  // The number that `watch` chooses.
  double watched() const {
    if (watch != FitWatch::kLoss) return validation.metric;
    return validation.samples > 0 ? validation.loss : loss;
  }

  // The state from which an epoch in progress goes on: "number", "samples", "loss" and "lost", 0-d.
  StateDict state_dict() const;
  void LoadStateDict(const StateDict& state);
};

struct FitOptions {
  int64_t epochs = 10;     // of the whole run, those before it was interrupted among them
  LossFunction loss = {};  // to be minimised; empty: as for Evaluate
  // The result for a batch, in training and validation; replaces the loss of the network's output
  // for the first of two tensors. A frozen step takes all tensors of a batch.
  ForwardFunction forward = {};
  // The learning rate for each step of the optimizer. Empty: rates stay as they are.
  optim::Schedule schedule = {};
  // In place of a schedule: rates go down when FitEpoch::watched() has stopped getting better,
  // where steps are epochs.
  std::optional<optim::ReduceOnPlateauOptions> plateau = {};
  // Batches that make a step of the optimizer together, with the mean of their losses: as one batch
  // so many times as large, in the memory of one. The rest at the end of an epoch makes a step too,
  // so an epoch has ceil(train.size() / accumulate) steps. Batch norms see each batch alone.
  int64_t accumulate = 1;
  bool frozen = false;  // the step runs as a graph (Freeze), one for each kind of batch
  // The type in which the network and the loss compute where that is safe (AutocastScope). With
  // kF16 the loss is scaled (optim::LossScaler, the part "scaler"): a step whose gradients overflow
  // is left out, and the run has diverged when 20 in a row had no finite loss. Empty: as the
  // parameters are.
  std::optional<DType> autocast = {};
  // The largest norm of all gradients together (optim::ClipGradNorm); 0: no limit.
  double clip_norm = 0;
  // Follows the weights after every step, and is saved in checkpoints as the part "average". The
  // validation then uses the averages (with the network's running statistics); the training uses
  // the weights themselves, which the network has at the end too. Must live as long as the call.
  // If it is null, there is no average.
  optim::WeightAverage* average = nullptr;

  // The data for a validation after each epoch, as by Evaluate; must live as long as the call.
  // If it is null, there is no validation.
  io::DataLoader* validation = nullptr;
  io::Metric metric = {};  // of the validation; empty: as for Evaluate
  // Decides which epoch is best, for `patience`, `plateau` and FitResult::best_checkpoint.
  FitWatch watch = FitWatch::kLoss;
  // Epochs in a row without a better FitEpoch::watched() after which to stop; 0: none.
  int64_t patience = 0;

  // Where checkpoints, the series "training loss" (io/monitors/monitor.h) and the table
  // "epochs.csv" go. A run that finds checkpoints there goes on from the newest intact one. Empty:
  // nothing is kept.
  std::string folder = {};
  // Steps from one checkpoint to the next, beside those at the end of each epoch; 0: only these.
  int64_t checkpoint_every = 0;
  // Further parts of checkpoints, such as an optim::WeightAverage that a hook of the optimizer
  // updates. Their names must differ from those in FitResult::best_checkpoint.
  io::CheckpointParts parts = {};

  // For several processes that train one network, each with its part of the samples: all make the
  // same call, with their own DataLoaderOptions::shard in the loaders, and get the same result.
  // Losses and metrics are of all samples, so that all stop at the same time; rank 0 alone prints
  // and writes. Fit itself does not exchange gradients: the program wraps the network or the
  // optimizer for that (nn::parallel::DataParallel, optim::Sharded). Where the last batch has fewer
  // samples than there are ranks, a rank trains with a batch without rows, which batch norms
  // refuse. LastBatch::kDrop and kWrap avoid such batches, except for the first one of a run that
  // goes on with another number of ranks in the middle of a batch. `clip_norm` is for the gradients
  // that the rank has, so for those of all ranks if these are averaged before the step. Options
  // that make no sense on one rank are an error on all, and so is a run that has diverged; the
  // communicator can then be used again. Any other exception on one rank is thrown there and aborts
  // the communicator, so that the others end with an error that names the rank and the reason. Must
  // live as long as the call. If it is null, this rank works alone.
  comm::Communicator* ranks = nullptr;
  // Called before each training batch, for example to tell of how many samples the rank's gradients
  // are a mean.
  std::function<void(const io::Sample& batch)> on_batch = {};

  // The look of each epoch's bar; its label is the epoch. `quiet` also leaves out the line after
  // it.
  io::ProgressOptions progress = {};
  // Called when an epoch is over and its checkpoint is being written.
  std::function<void(const FitEpoch& epoch)> on_epoch = {};
};

struct FitResult {
  std::vector<FitEpoch> epochs;  // those of this call
  int64_t resumed_at = 0;        // the step of the checkpoint that it went on from; 0: none
  std::vector<io::CheckpointManager::Skipped> skipped;  // newer ones, which are damaged
  bool stopped_early = false;                           // `patience` was over
  // The file with the best FitEpoch::watched(); empty without a folder. Its parts are "model",
  // "optimizer", "data", "random", "stopping", "epoch", where there is one "schedule" or "plateau",
  // "average", "scaler", and FitOptions::parts.
  std::string best_checkpoint;
};

// Trains until `epochs` are over or `patience` ends. An interruption (an exception, the end of the
// process) loses only the steps since the last checkpoint: the same call with the same folder goes
// on from there, and its result equals that of an undisturbed run to the bit. Random numbers are
// those of the default generator of the training loader's device. A network in eval mode is set to
// training mode; in one that is in training mode, modules keep their own modes, so that a batch
// norm in eval mode is not trained. Throws firn::Error:
// InvalidArgument for options that make no sense, before anything has changed, and as Evaluate for
// batches of other than two tensors without `forward`; FailedPrecondition when the loss is no
// finite number any more, naming epoch, step and rate; what the network, the losses, the loaders
// and io::CheckpointManager throw. Thread-compatible, like its arguments.
FitResult Fit(nn::Module& net, optim::Optimizer& optimizer, io::DataLoader& train,
              const FitOptions& options = {});

namespace inner::internal {
// The options with defaults in place of empty ones. Throws as Fit.
FitOptions CheckedOptions(FitOptions options, nn::Module& net, const io::DataLoader& train);
// Throws the present exception again, and tells the other ranks unless all throw it.
[[noreturn]] void TellRanks(comm::Communicator* ranks);
// Whether this process prints and writes.
bool IsFirst(const FitOptions& options);
// Options of a scaler that agrees with those of other ranks.
optim::LossScalerOptions ScalerOptions(const FitOptions& options);
// Adds the mean loss of so many samples to the epoch's, unless it is no number: then it trains
// nothing, or ends the run. Returns the loss; with `ranks` it is that of all their samples.
double AddLoss(const Tensor& loss, int64_t samples, FitEpoch& epoch, comm::Communicator* ranks);
// From the number of steps in a row without a finite loss, the number after a step with this loss.
// Throws when the weights are useless: at the first such step or, in f16, whose scaler leaves such
// steps out, at the 20th.
int64_t CheckLoss(double loss, int64_t lost, const FitEpoch& epoch, const FitOptions& options);
}  // namespace inner::internal

}  // namespace firn

#endif  // FIRN_FIT_H_
