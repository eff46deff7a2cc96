// One walk over the operations keeps, for each buffer, the last operation that wrote into it and
// the last that touched it. A repetition of an update may stand right after the last writer of all
// that it reads and the last one that touches what it writes.

#include "autograd/graph/passes/update_early.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace firn {
namespace {

// Below this an operation of its own costs more than the memory is worth.
constexpr size_t kLargeBytes = size_t{1} << 18;

bool UpdatesEach(const OpDef& op) {
  if (!op.variadic() || !op.outputs.empty()) return false;
  const auto tail = op.inputs.end() - static_cast<std::ptrdiff_t>(op.cycle);
  return std::any_of(tail, op.inputs.end(), [](const ArgDecl& d) { return d.inout; });
}

class Mover {
 public:
  explicit Mover(Graph& graph)
      : g_(graph), after_write_(graph.buffers.size(), 0), after_touch_(graph.buffers.size(), 0) {}

  PassReport Run() {
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      Instr& instr = g_.instrs[at];
      if (UpdatesEach(*instr.op)) TakeApart(instr, at);
      Touch(instr, at + 1);
    }
    if (report_.changes != 0) Rebuild();
    return std::move(report_);
  }

 private:
  struct Moved {
    size_t before;  // operation of the old list
    Instr instr;
  };

  size_t BufferOf(ValueId id) const { return static_cast<size_t>(g_.value(id).buffer); }

  // What depends on the call comes no earlier than `after`.
  void Touch(const Instr& call, size_t after) {
    const auto touch = [&](ValueId id, bool written) {
      if (id == kNoValue) return;
      size_t &touched = after_touch_[BufferOf(id)], &wrote = after_write_[BufferOf(id)];
      touched = std::max(touched, after);
      if (written) wrote = std::max(wrote, after);
    };
    for (size_t i = 0; i < call.in.size(); ++i) touch(call.in[i], Writes(*call.op, i));
    for (ValueId id : call.out) touch(id, true);
  }

  // The first place where the call could stand.
  size_t Earliest(const Instr& call) const {
    size_t place = 0;
    for (size_t i = 0; i < call.in.size(); ++i) {
      if (call.in[i] == kNoValue) continue;
      const auto& after = Writes(*call.op, i) ? after_touch_ : after_write_;
      place = std::max(place, after[BufferOf(call.in[i])]);
    }
    return place;
  }

  bool IsLarge(const Instr& call) const {
    return std::any_of(call.in.begin(), call.in.end(), [this](ValueId id) {
      return id != kNoValue && g_.value(id).spec.bytes() >= kLargeBytes;
    });
  }

  void TakeApart(Instr& update, size_t at) {
    const size_t cycle = update.op->cycle, fixed = update.op->inputs.size() - cycle;
    Instr rest = update;
    rest.in.assign(update.in.begin(), update.in.begin() + static_cast<std::ptrdiff_t>(fixed));
    const auto none = rest.in;
    for (size_t first = fixed; first < update.in.size(); first += cycle) {
      const auto begin = update.in.begin() + static_cast<std::ptrdiff_t>(first);
      Instr one = update;
      one.in = none;
      one.in.insert(one.in.end(), begin, begin + static_cast<std::ptrdiff_t>(cycle));
      const size_t place = Earliest(one);
      if (place < at && IsLarge(one)) {
        report_.Add(absl::StrCat(Describe(update), " of ", g_.value(*begin).spec.ToString(), ": ",
                                 at - place, " operations earlier"));
        Touch(one, place);  // a later one of the same place is put behind it
        moved_.push_back({place, std::move(one)});
      } else {
        rest.in.insert(rest.in.end(), begin, begin + static_cast<std::ptrdiff_t>(cycle));
      }
    }
    if (rest.in.size() == fixed) gone_.push_back(at);
    update = std::move(rest);
  }

  void Rebuild() {
    std::stable_sort(moved_.begin(), moved_.end(),
                     [](const Moved& a, const Moved& b) { return a.before < b.before; });
    std::vector<Instr> instrs;
    auto next = moved_.begin();
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      for (; next != moved_.end() && next->before == at; ++next) {
        instrs.push_back(std::move(next->instr));
      }
      if (std::find(gone_.begin(), gone_.end(), at) == gone_.end()) {
        instrs.push_back(std::move(g_.instrs[at]));
      }
    }
    g_.instrs = std::move(instrs);
  }

  Graph& g_;
  std::vector<size_t> after_write_, after_touch_;  // by buffer: the next operation's position
  std::vector<Moved> moved_;
  std::vector<size_t> gone_;  // updates of which nothing is left
  PassReport report_{.pass = "update_early"};
};

}  // namespace

absl::StatusOr<PassReport> UpdateEarly(Graph& graph) { return Mover(graph).Run(); }

}  // namespace firn
