// A sharded optimizer has the slots, whose state is that of a part. The optimizer that it was made
// from moves parts of parameters like parameters of their own, which lie in the memory of the whole
// ones. A step is a small exchange of which rank has which gradients, the averaging of gradients,
// the optimizer's own step, and the gathering of the moved parts.

#include "firn/optim/sharded.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/comm/agreement.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/shared_status.h"
#include "firn/device/status_macros.h"
#include "firn/optim/shard_exchange.h"
#include "firn/optim/unless.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"
#include "firn/tensor/tensor_impl.h"

namespace firn::optim {
namespace {

using internal::AverageShards;
using internal::ElementsOf;
using internal::GatherShards;
using internal::OrAbort;
using internal::Shard;
using internal::ShardOf;

const char* NameOf(bool on) { return on ? "true" : "false"; }

// The device without its number, which differs between ranks.
std::string Describe(const Tensor& param) {
  if (IsPending(param)) return "pending";
  TensorSpec spec = param.spec();
  spec.device.index = 0;
  return spec.ToString();
}

bool HasGrad(const Tensor& param) { return !IsPending(param) && param.grad().defined(); }

}  // namespace

// --- Making one ---------------------------------------------------------------------------------

ShardedOptimizer::ShardedOptimizer(std::unique_ptr<Optimizer> optimizer, comm::Communicator& comm,
                                   const ShardedOptions& options)
    : inner_(std::move(optimizer)), comm_(comm), options_(options) {
  if (inner_ == nullptr) RaiseStatus(InvalidArgument("there is no optimizer to shard"), "Sharded");
  groups_ = std::move(inner_->groups_);
  before_ = std::move(inner_->before_);
  after_ = std::move(inner_->after_);
  own_name_ = std::move(inner_->own_name_);
  taken_ = std::move(inner_->taken_);
  AgreeOnParameters();
  // The ranks have agreed on everything that could make these fail.
  if (!inner_->ElementByElement()) {
    RaiseStatus(
        InvalidArgument("may need whole parameters, of which no rank would have all; Sharded is for"
                        " what says that it goes element by element (ElementByElement), as Adam"),
        name());
  }
  for (const Slot* s : Slots()) {
    if (!s->step.defined()) continue;
    RaiseStatus(FailedPrecondition("has moved ", s->name,
                                   " already; shard a new one, and load its"
                                   " state_dict()"),
                name());
  }
  RaiseIfError(comm::StatusOfAll(comm_, CheckPlaces()), name());  // numbers of devices may differ
}

ShardedOptimizer::~ShardedOptimizer() = default;

std::vector<Optimizer::Slot*> ShardedOptimizer::Slots() {
  std::vector<Slot*> all;
  for (ParameterGroup& g : groups_) {
    for (Slot& s : g.slots) all.push_back(&s);
  }
  return all;
}

absl::Status ShardedOptimizer::CheckPlaces() const {
  std::optional<Device> first;
  for (const ParameterGroup& g : groups_) {
    for (const Slot& s : g.slots) {
      const Device device = s.param.device();
      if (!first) first = device;
      FIRN_RETURN_IF(
          device != *first,
          Unimplemented("parameter ", s.name, " is on ", device.ToString(), ", others are on ",
                        first->ToString(), ": ranks exchange what is on one device"));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> ShardedOptimizer::Lines() const {
  std::vector<std::string> lines = {absl::StrCat(name(), " of ", groups_.size(),
                                                 " groups, average = ", NameOf(options_.average))};
  for (const auto& [option, value] : OptionDict()) {
    lines.push_back(absl::StrFormat("%s = %.17g", option, value.Item()));
  }
  for (const ParameterGroup& g : groups_) {
    lines.push_back(absl::StrCat("a group of ", g.slots.size(), " parameters"));
    for (const Slot& s : g.slots) {
      lines.push_back(absl::StrCat("parameter ", s.name, ", ", Describe(s.param),
                                   s.step.defined() ? ", which has moved" : ""));
    }
  }
  return lines;
}

// While a parameter is pending here the ranks compare each time, since it may not be pending on
// others.
void ShardedOptimizer::AgreeOnParameters() {
  std::vector<uint64_t> now;
  bool pending = false;
  for (const Slot* s : Slots()) {
    pending = pending || IsPending(s->param);
    now.push_back(reinterpret_cast<uintptr_t>(s->param.impl()));
    now.push_back(IsPending(s->param) ? 0 : static_cast<uint64_t>(s->param.num_elements()));
    now.push_back(static_cast<uint64_t>(s->param.device().type));
  }
  if (!pending && !agreed_.empty() && now == agreed_) return;
  RaiseIfError(comm::CheckAgreement(comm_, Lines()), name());
  agreed_ = std::move(now);
}

// --- As the optimizer has it ---------------------------------------------------------------------

const char* ShardedOptimizer::name() const { return inner_->name(); }

std::vector<std::string> ShardedOptimizer::state_names(size_t group) const {
  return inner_->state_names(group);
}

Shape ShardedOptimizer::StateShape(size_t, size_t, const Shape& param) const {
  return {ShardOf(param.num_elements(), comm_.rank(), comm_.size()).count};
}

void ShardedOptimizer::CheckParameter(const std::string& name, const Shape& shape) const {
  inner_->CheckParameter(name, shape);
}

AttrsRef ShardedOptimizer::OptionsRef(size_t group) const { return inner_->OptionsRef(group); }

void ShardedOptimizer::CheckOptions(size_t group, double lr) const {
  inner_->CheckOptions(group, lr);
}

std::function<void()> ShardedOptimizer::OptionsAsTheyAre() { return inner_->OptionsAsTheyAre(); }

// --- Steps ---------------------------------------------------------------------------------------

// The message of a rank: a byte for each parameter, whether it has a gradient here; one more,
// whether the step is left out; and the learning rates.
std::vector<uint8_t> ShardedOptimizer::Told(const Tensor& skip) {
  std::vector<uint8_t> told;
  for (const Slot* s : Slots()) told.push_back(HasGrad(s->param) ? 1 : 0);
  told.push_back(skip.defined() && skip.Item() != 0 ? 1 : 0);
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto bytes = std::bit_cast<std::array<uint8_t, sizeof(double)>>(lr(g));
    told.insert(told.end(), bytes.begin(), bytes.end());
  }
  return told;
}

// All ranks see all messages, and therefore decide alike.
ShardedOptimizer::Plan ShardedOptimizer::AgreeOnStep(const std::vector<uint8_t>& told) {
  const std::vector<Slot*> slots = Slots();
  const size_t ranks = static_cast<size_t>(comm_.size());
  std::vector<uint8_t> all(told.size() * ranks);
  RaiseIfError(comm_.AllGather(told.data(), all.data(), static_cast<int64_t>(told.size()),
                               comm::Element::kU8),
               name());
  Plan plan{.moves = std::vector<bool>(slots.size())};
  for (size_t r = 0; r < ranks; ++r) {
    const uint8_t* const has = all.data() + r * told.size();
    for (size_t i = 0; i < slots.size(); ++i) {
      plan.moves[i] = plan.moves[i] || has[i] != 0;
      if (options_.average || (has[i] != 0) == (all[i] != 0)) continue;
      RaiseStatus(FailedPrecondition("parameter ", slots[i]->name, " has ",
                                     all[i] != 0 ? "a gradient" : "no gradient", " on rank 0, and ",
                                     has[i] != 0 ? "one" : "none", " on rank ", r,
                                     "; average = true adds up what there is"),
                  name());
    }
    plan.skips = plan.skips || has[slots.size()] != 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      double here = 0, first = 0;
      const size_t at = slots.size() + 1 + g * sizeof(double);
      std::memcpy(&here, has + at, sizeof(double));
      std::memcpy(&first, all.data() + at, sizeof(double));
      if (here == first) continue;
      RaiseStatus(FailedPrecondition("the learning rate of group ", g, " is ", first,
                                     " on rank 0 and ", here, " on rank ", r),
                  name());
    }
  }
  return plan;
}

void ShardedOptimizer::Step(const Tensor& skip) {
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("a sharded step exchanges parameters with other ranks, which a"
                                   " capture cannot record; call it outside"),
                name());
  }
  const NoGradScope no_grad;
  std::vector<uint8_t> told;
  OrAbort(comm_, [&] {
    for (const auto& hook : before_) hook();
    RaiseIfError(CheckPlaces(), name());
    for (const Slot* s : Slots()) {
      if (!IsPending(s->param) && !s->param.is_contiguous()) {
        RaiseIfError(LayOutRowMajor(s->param), name());
      }
    }
    told = Told(skip);
  });
  AgreeOnParameters();
  CheckAnyKnown();
  const Plan plan = AgreeOnStep(told);
  OrAbort(comm_, [&] {
    StepTogether(plan);
    for (const auto& hook : after_) hook();
  });
}

void ShardedOptimizer::StepTogether(const Plan& plan) {
  std::vector<Slot*> moving;
  std::vector<Tensor> lent, moved;  // parameters
  const std::vector<Slot*> slots = Slots();
  const absl::Cleanup as_before = [&, before = std::exchange(before_, {}),
                                   after = std::exchange(after_, {})]() mutable {
    before_ = std::move(before);
    after_ = std::move(after);
    averaged_.clear();
    for (Tensor& param : lent) param.ZeroGrad();
  };
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!plan.moves[i]) continue;
    Tensor& param = slots[i]->param;
    if (!HasGrad(param)) {
      param.SetGrad(Zeros(param.shape(), param.dtype(), param.device()));
      lent.push_back(param);
    }
    moving.push_back(slots[i]);
    moved.push_back(param);
  }
  if (options_.average) Average(moving);
  Optimizer::Step(plan.skips ? Full(Shape(), 1, DType::kBool) : Tensor());
  if (plan.skips) return;
  RaiseIfError(GatherShards(moved, comm_), name());
  for (const Tensor& param : moved) param.impl()->storage->BumpVersion();
}

void ShardedOptimizer::Average(const std::vector<Slot*>& moving) {
  std::vector<Tensor> whole, parts;
  for (const Slot* s : moving) {
    const Shard shard = ShardOf(s->param.num_elements(), comm_.rank(), comm_.size());
    whole.push_back(Contiguous(s->param.grad()));
    parts.push_back(Empty({shard.count}, s->param.dtype(), s->param.device()));
  }
  RaiseIfError(AverageShards(whole, parts, comm_), name());
  for (size_t i = 0; i < moving.size(); ++i) averaged_[moving[i]->param.impl()] = parts[i];
}

void ShardedOptimizer::Update(size_t group, const Tensor& lr, const Tensor& skip,
                              absl::Span<Slot* const> slots) {
  std::vector<Slot> parts;
  parts.reserve(slots.size());
  for (const Slot* s : slots) {
    const Shard shard = ShardOf(s->param.num_elements(), comm_.rank(), comm_.size());
    if (shard.count == 0) {
      CountUnless(skip, s->step);
      continue;
    }
    parts.push_back({s->name, ElementsOf(s->param, shard), s->step, s->state});
    parts.back().param.SetRequiresGrad();
    const auto averaged = averaged_.find(s->param.impl());
    parts.back().param.SetGrad(averaged == averaged_.end()
                                   ? ElementsOf(Contiguous(s->param.grad()), shard)
                                   : averaged->second);
  }
  if (parts.empty()) return;
  std::vector<Slot*> pointers;
  for (Slot& p : parts) pointers.push_back(&p);
  inner_->Update(group, lr, skip, pointers);
}

}  // namespace firn::optim
