// One walk over the operations keeps, for each buffer, the last operation that wrote into it and
// the last that touched it. A repetition of an update may stand right after the last writer of all
// that it reads and the last one that touches what it writes. A gradient may be computed later if
// nothing it is computed from has been written since.

#include "firn/autograd/graph/passes/schedule_updates.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/passes/rewrite.h"

namespace firn {
namespace {

// Below this size a further operation costs more than the memory is worth: a call on the CPU; on a
// device a launch, where one launch could serve all variables.
constexpr size_t kLargeBytes = size_t{1} << 18, kLargeThere = size_t{64} << 20;
// A gradient is computed late only if it is more than this many times as large as what it is
// computed from.
constexpr size_t kMuchLarger = 4;

bool UpdatesEach(const OpDef& op) {
  if (!op.variadic() || !op.outputs.empty() || op.collective) return false;
  const auto tail = op.inputs.end() - static_cast<std::ptrdiff_t>(op.cycle);
  return std::any_of(tail, op.inputs.end(), [](const ArgDecl& d) { return d.inout; });
}

class Mover {
 public:
  explicit Mover(Graph& graph)
      : g_(graph),
        uses_(graph),
        after_write_(graph.buffers.size(), 0),
        after_touch_(graph.buffers.size(), 0),
        gone_(graph.instrs.size(), false) {}

  PassReport Run() {
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      Instr& instr = g_.instrs[at];
      if (UpdatesEach(*instr.op)) TakeApart(instr, at);
      Touch(instr, at + 1);
    }
    if (report_.changes != 0) Rearrange(g_, gone_, std::move(moved_));
    return std::move(report_);
  }

 private:
  size_t BufferOf(ValueId id) const { return static_cast<size_t>(g_.value(id).buffer); }

  // Operations that depend on the call come no earlier than `after`.
  void Touch(const Instr& call, size_t after) {
    const auto touch = [&](ValueId id, bool written) {
      if (id == kNoValue) return;
      size_t &touched = after_touch_[BufferOf(id)], &wrote = after_write_[BufferOf(id)];
      touched = std::max(touched, after);
      if (written) wrote = std::max(wrote, after);
    };
    for (size_t i = 0; i < call.in.size(); ++i) touch(call.in[i], call.op->writes(i));
    for (ValueId id : call.out) touch(id, true);
  }

  // The first place where the call could stand.
  size_t Earliest(const Instr& call) const {
    size_t place = 0;
    for (size_t i = 0; i < call.in.size(); ++i) {
      if (call.in[i] == kNoValue) continue;
      const auto& after = call.op->writes(i) ? after_touch_ : after_write_;
      place = std::max(place, after[BufferOf(call.in[i])]);
    }
    return place;
  }

  bool IsLarge(const Instr& call) const {
    return std::any_of(call.in.begin(), call.in.end(), [this](ValueId id) {
      if (id == kNoValue) return false;
      const TensorSpec& spec = g_.value(id).spec;
      return spec.bytes() >= (spec.device.is_cpu() ? kLargeBytes : kLargeThere);
    });
  }

  bool UpdateEarly(Instr& update, size_t at) {
    const size_t place = Earliest(update);
    if (place >= at) return false;
    Report(update, at - place, "earlier");
    Touch(update, place);  // a later update with the same place is put behind it
    moved_.push_back({place, std::move(update)});
    return true;
  }

  // Moves the operation that computes the gradient to right before the update, which stays where it
  // is.
  bool ComputeLate(Instr& update, size_t at) {
    const auto fixed = static_cast<std::ptrdiff_t>(update.op->inputs.size() - update.op->cycle);
    for (auto in = update.in.begin() + fixed; in != update.in.end(); ++in) {
      const ValueId id = *in;
      if (id == kNoValue || !ComputedForThisAlone(id)) continue;
      const size_t maker = uses_.maker(id);
      if (!MayWait(g_.instrs[maker], maker)) continue;
      Report(update, at - maker, "later, with its gradient");
      Touch(g_.instrs[maker], at);  // nobody changes what it reads before that
      moved_.push_back({at, std::move(g_.instrs[maker])});
      gone_[maker] = true;
      Touch(update, at);
      moved_.push_back({at, std::move(update)});
      return true;
    }
    return false;
  }

  bool ComputedForThisAlone(ValueId id) const {
    const size_t maker = uses_.maker(id);
    return maker != Uses::kNone && !gone_[maker] && !uses_.leaves(id) &&
           uses_.readers(id).size() == 1 && g_.buffer_of(id).kind == Buffer::Kind::kTemp &&
           uses_.writers(g_.value(id).buffer).size() == 1;
  }

  bool MayWait(const Instr& instr, size_t at) const {
    if (!instr.op->pure() || instr.op->is_view || instr.out.size() != 1) return false;
    size_t kept = 0;  // bytes that live longer because of the delay
    for (ValueId id : instr.in) {
      if (id == kNoValue) continue;
      if (after_write_[BufferOf(id)] > at) return false;
      if (g_.buffer_of(id).kind == Buffer::Kind::kTemp) kept += g_.value(id).spec.bytes();
    }
    return g_.value(instr.out[0]).spec.bytes() > kMuchLarger * kept;
  }

  void Report(const Instr& update, size_t by, const char* where) {
    const size_t first = update.op->inputs.size() - update.op->cycle;
    report_.Add(absl::StrCat(Describe(update), " of ", g_.value(update.in[first]).spec.ToString(),
                             ": ", by, " operations ", where));
  }

  // Makes an update of each variable from a copy with the inputs of one. Copying the inputs of all
  // each time would take a time that grows with the square of their number.
  void TakeApart(Instr& update, size_t at) {
    const size_t cycle = update.op->cycle, fixed = update.op->inputs.size() - cycle;
    Instr rest = update;
    rest.in.assign(update.in.begin(), update.in.begin() + static_cast<std::ptrdiff_t>(fixed));
    const Instr none = rest;
    for (size_t first = fixed; first < update.in.size(); first += cycle) {
      const auto begin = update.in.begin() + static_cast<std::ptrdiff_t>(first);
      Instr one = none;
      one.in.insert(one.in.end(), begin, begin + static_cast<std::ptrdiff_t>(cycle));
      if (!IsLarge(one) || !(ComputeLate(one, at) || UpdateEarly(one, at))) {
        rest.in.insert(rest.in.end(), begin, begin + static_cast<std::ptrdiff_t>(cycle));
      }
    }
    if (rest.in.size() == fixed) gone_[at] = true;
    update = std::move(rest);
  }

  Graph& g_;
  const Uses uses_;                                // as the graph was
  std::vector<size_t> after_write_, after_touch_;  // by buffer: the next operation's position
  std::vector<Insertion> moved_;
  std::vector<bool> gone_;  // by operation: it has moved
  PassReport report_{.pass = "schedule_updates"};
};

}  // namespace

absl::StatusOr<PassReport> ScheduleUpdates(Graph& graph) { return Mover(graph).Run(); }

}  // namespace firn
