// All ranks compare the same lines, and all that is checked afterwards is in them: so all ranks
// find the same.
#include "firn/fit_agreement.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "firn/device/comm/agreement.h"
#include "firn/device/comm/communicator.h"
#include "firn/tensor/error.h"

namespace firn::inner::internal {
namespace {

std::vector<std::string> LinesOf(const FitOptions& o, const optim::Optimizer& optimizer,
                                 const io::DataLoader& train) {
  const io::DataLoader::Position at = train.position();
  std::vector<std::string> lines = {
      DescribeLoader("training", train),
      absl::StrCat("begins in epoch ", at.epoch, ", batch ", at.batch, ", sample ", at.begin),
      o.validation == nullptr ? "no validation" : DescribeLoader("validation", *o.validation),
      absl::StrCat("epochs ", o.epochs),
      absl::StrCat("accumulate ", o.accumulate),
      o.frozen ? "frozen" : "not frozen",
      absl::StrCat("autocast ", o.autocast ? DTypeName(*o.autocast) : "none"),
      absl::StrFormat("clip_norm %.17g", o.clip_norm),
      absl::StrCat("patience ", o.patience),
      absl::StrCat("watch ", static_cast<int>(o.watch)),
      absl::StrCat("checkpoint_every ", o.checkpoint_every),
      o.folder.empty() ? "no folder" : "a folder",
      o.schedule  ? "a schedule"
      : o.plateau ? "a plateau"
                  : "neither a schedule nor a plateau",
      o.average != nullptr ? "an average" : "no average",
  };
  for (size_t g = 0; g < optimizer.num_groups(); ++g) {
    lines.push_back(absl::StrFormat("group %d lr %.17g", g, optimizer.lr(g)));
  }
  for (const auto line : absl::StrSplit(optimizer.ToString(), '\n')) lines.emplace_back(line);
  return lines;
}

absl::Status CheckFrozen(const FitOptions& o, const io::DataLoader& train) {
  const io::DataLoaderOptions& loader = train.options();
  if (!o.frozen || loader.last != io::LastBatch::kKeep) return absl::OkStatus();
  const int64_t ranks = loader.shard.count;
  const int64_t last = train.dataset().size() % (loader.batch * ranks);
  if (last % ranks == 0) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "frozen with ", ranks, " ranks: the last batch of an epoch has ", last,
      " samples, which they cannot share evenly (want a multiple, LastBatch::kDrop or kWrap, or no "
      "frozen step)"));
}

}  // namespace

std::string DescribeLoader(const std::string& what, const io::DataLoader& loader) {
  const io::DataLoaderOptions& o = loader.options();
  const char* const last = o.last == io::LastBatch::kKeep   ? "kept"
                           : o.last == io::LastBatch::kDrop ? "dropped"
                                                            : "wrapped";
  return absl::StrCat(what, " of ", loader.dataset().size(), " samples, batch ", o.batch, ", ",
                      o.order     ? "in an order of its own"
                      : o.shuffle ? "shuffled"
                                  : "not shuffled",
                      ", seed ", o.seed, ", last batch ", last);
}

FitOptions CheckedOptions(FitOptions options, nn::Module& net, const io::DataLoader& train,
                          const optim::Optimizer& optimizer) {
  FitOptions checked = CheckedOptions(std::move(options), net, train);
  if (checked.ranks == nullptr) return checked;
  absl::Status status = comm::CheckAgreement(*checked.ranks, LinesOf(checked, optimizer, train));
  status.Update(CheckFrozen(checked, train));
  if (!status.ok()) RaiseOnAll(status, checked.ranks);
  return checked;
}

}  // namespace firn::inner::internal
