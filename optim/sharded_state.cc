// State dicts of sharded optimizers. The whole one has the entries of the optimizer alone. That of
// a rank has parts, of one dimension, and two options more, which say whose they are:
//   groups.0.shard_rank, groups.0.shard_count
// A whole one is loaded by cutting this rank's part out first.

#include <map>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/status_macros.h"
#include "firn/optim/shard_exchange.h"
#include "firn/optim/sharded.h"
#include "firn/optim/state_reader.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/pending.h"

namespace firn::optim {
namespace {

using internal::ElementsOf;
using internal::GatherShards;
using internal::OrAbort;
using internal::Shard;
using internal::ShardOf;

constexpr const char* kRank = "groups.0.shard_rank";
constexpr const char* kCount = "groups.0.shard_count";

// -1 if it is no number.
double NumberAt(const StateDict& state, const char* name) {
  const Tensor* const t = state.Find(name);
  return t != nullptr && t->defined() && t->num_elements() == 1 ? t->Item() : -1;
}

}  // namespace

void ShardedOptimizer::VisitOptions(size_t group, AttrVisitor& visitor) {
  inner_->VisitOptions(group, visitor);
  if (!marks_ || group != 0) return;
  int64_t rank = comm_.rank(), count = comm_.size();  // LoadStateDict has compared them
  visitor.Field("shard_rank", rank);
  visitor.Field("shard_count", count);
}

StateDict ShardedOptimizer::state_dict() const {
  const NoGradScope no_grad;
  marks_ = options_.sharded_state;
  const absl::Cleanup unmark = [this] { marks_ = false; };
  StateDict state = Optimizer::state_dict();
  if (options_.sharded_state) return state;
  StateDict whole;
  std::vector<Tensor> cut;  // entries of whole, to be gathered all at once
  const SlotsByName slots = ByName();
  for (const auto& [slot_name, slot] : slots) {  // whose whole shape is not known yet
    if (slot->step.defined() && IsPending(slot->param)) {
      RaiseStatus(PendingError(slot->param), name());
    }
  }
  OrAbort(comm_, [&] {
    for (const auto& [entry, value] : state) {
      const Slot* const slot = SlotOf(slots, entry);
      // Brings all states to one device, since parameters may have been on others at their last
      // step.
      whole.Insert(entry,
                   slot == nullptr ? value : WholeState(*slot, value.To(slot->param.device())));
      if (slot != nullptr) cut.push_back(*whole.Find(entry));
    }
    RaiseIfError(GatherShards(cut, comm_), name());
  });
  return whole;
}

ShardedOptimizer::SlotsByName ShardedOptimizer::ByName() const {
  SlotsByName slots;
  for (const ParameterGroup& g : groups_) {
    for (const Slot& s : g.slots) slots[s.name] = &s;
  }
  return slots;
}

// "state.<parameter>.<name>", whose parts are cut. Names of states have no dots.
const Optimizer::Slot* ShardedOptimizer::SlotOf(const SlotsByName& slots, std::string_view entry) {
  constexpr std::string_view kPrefix = "state.";
  const size_t dot = entry.rfind('.');
  if (!entry.starts_with(kPrefix) || dot < kPrefix.size() || entry.substr(dot) == ".step") {
    return nullptr;
  }
  const auto found = slots.find(entry.substr(kPrefix.size(), dot - kPrefix.size()));
  return found == slots.end() ? nullptr : found->second;
}

// A tensor of the parameter's shape with this rank's part at its place, and zeros elsewhere.
Tensor ShardedOptimizer::WholeState(const Slot& slot, const Tensor& part) const {
  const Tensor whole = Zeros(slot.param.shape(), part.dtype(), part.device());
  const Shard shard = ShardOf(whole.num_elements(), comm_.rank(), comm_.size());
  if (shard.count != 0) Assign(ElementsOf(whole, shard), part);
  return whole;
}

StateDict ShardedOptimizer::PartsOf(const StateDict& whole) const {
  StateDict parts;
  const SlotsByName slots = ByName();
  for (const auto& [entry, value] : whole) {
    const Slot* const slot = SlotOf(slots, entry);
    if (slot == nullptr || !value.defined()) {
      parts.Insert(entry, value);
      continue;
    }
    if (!IsPending(slot->param) && value.shape() != slot->param.shape()) {
      RaiseStatus(InvalidArgument(entry, " is ", value.shape().ToString(), ", the parameter ",
                                  slot->param.shape().ToString()),
                  name());
    }
    const Shard shard = ShardOf(value.num_elements(), comm_.rank(), comm_.size());
    parts.Insert(entry, ElementsOf(Contiguous(value.Detach().To(Device::Cpu())), shard));
  }
  parts.Insert(kRank, StateNumber(comm_.rank()));
  parts.Insert(kCount, StateNumber(comm_.size()));
  return parts;
}

void ShardedOptimizer::LoadStateDict(const StateDict& state) {
  const NoGradScope no_grad;
  const bool cut = state.Contains(kRank) || state.Contains(kCount);
  const double rank = NumberAt(state, kRank), count = NumberAt(state, kCount);
  if (cut && (rank != comm_.rank() || count != comm_.size())) {
    RaiseStatus(InvalidArgument("the state is the part of rank ", rank, " of ", count,
                                ", this is rank ", comm_.rank(), " of ", comm_.size(),
                                "; load the whole one, which state_dict() gives without"
                                " sharded_state"),
                name());
  }
  marks_ = true;
  const absl::Cleanup unmark = [this] { marks_ = false; };
  Optimizer::LoadStateDict(cut ? state : PartsOf(state));
}

}  // namespace firn::optim
