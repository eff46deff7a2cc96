// A result that takes its argument's place becomes a value in the argument's buffer. The memory
// plan then needs to know nothing about it: that buffer just lives longer.

#include "firn/autograd/graph/in_place.h"

#include <vector>

#include "firn/autograd/graph/analysis.h"
#include "firn/tensor/op.h"

namespace firn {
namespace {

class Marker {
 public:
  explicit Marker(Graph& graph) : g_(graph), spans_(LifespansOf(graph)) {
    values_.resize(g_.buffers.size());
    for (size_t id = 0; id < g_.values.size(); ++id) {
      values_[BufferOf(static_cast<ValueId>(id))].push_back(static_cast<ValueId>(id));
    }
  }

  int64_t Run() {
    int64_t moved = 0;
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      const Instr& instr = g_.instrs[at];
      for (const Reuse& reuse : instr.op->may_reuse) {
        const ValueId in = instr.in[static_cast<size_t>(reuse.input)];
        const ValueId out = instr.out[static_cast<size_t>(reuse.output)];
        if (in == kNoValue || !MayTake(instr, in, out, at)) continue;
        Move(BufferOf(out), BufferOf(in));
        ++moved;
        break;
      }
    }
    return moved;
  }

 private:
  size_t BufferOf(ValueId id) const { return static_cast<size_t>(g_.value(id).buffer); }

  bool MayTake(const Instr& instr, ValueId in, ValueId out, size_t at) const {
    const Value &from = g_.value(in), &to = g_.value(out);
    const Buffer &old = g_.buffer_of(in), &fresh = g_.buffer_of(out);
    if (from.buffer == to.buffer || old.kind != Buffer::Kind::kTemp ||
        fresh.kind != Buffer::Kind::kTemp) {
      return false;
    }
    const bool same = SameDenseLayout(from.spec, to.spec) && from.offset == 0 && to.offset == 0 &&
                      old.bytes == fresh.bytes && from.spec.bytes() == to.spec.bytes();
    if (!same || spans_[BufferOf(in)].last != at) return false;
    for (ValueId other : instr.in) {  // seen otherwise, elements are read after they are written
      if (other != kNoValue && other != in && g_.value(other).buffer == from.buffer) return false;
    }
    return true;
  }

  void Move(size_t from, size_t to) {
    for (ValueId id : values_[from]) {
      g_.value(id).buffer = static_cast<BufferId>(to);
      values_[to].push_back(id);
    }
    values_[from].clear();
    spans_[to].last = spans_[from].last;
  }

  Graph& g_;
  std::vector<Lifespan> spans_;               // of buffers
  std::vector<std::vector<ValueId>> values_;  // in each buffer
};

}  // namespace

absl::StatusOr<PassReport> MarkInPlace(Graph& graph) {
  return PassReport{.pass = "in_place", .changes = Marker(graph).Run()};
}

}  // namespace firn
