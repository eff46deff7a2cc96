// A result that takes its argument's place becomes a value in the argument's buffer. The memory
// plan then needs to know nothing about it: that buffer just lives longer.

#include "autograd/graph/in_place.h"

#include <vector>

namespace firn {
namespace {

class Marker {
 public:
  explicit Marker(Graph& graph) : g_(graph), last_use_(graph.buffers.size(), -1) {
    const auto end = static_cast<int64_t>(g_.instrs.size());
    for (int64_t at = 0; at < end; ++at) {
      const Instr& instr = g_.instrs[static_cast<size_t>(at)];
      for (ValueId id : instr.in) Use(id, at);
      for (ValueId id : instr.out) Use(id, at);
    }
    for (ValueId id : g_.outputs) Use(id, end);
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
        if (in == kNoValue || !MayTake(instr, in, out, static_cast<int64_t>(at))) continue;
        Move(BufferOf(out), BufferOf(in));
        ++moved;
        break;
      }
    }
    return moved;
  }

 private:
  size_t BufferOf(ValueId id) const { return static_cast<size_t>(g_.value(id).buffer); }

  void Use(ValueId id, int64_t at) {
    if (id != kNoValue) last_use_[BufferOf(id)] = at;
  }

  bool MayTake(const Instr& instr, ValueId in, ValueId out, int64_t at) const {
    const Value &from = g_.value(in), &to = g_.value(out);
    const Buffer &old = g_.buffer_of(in), &fresh = g_.buffer_of(out);
    if (from.buffer == to.buffer || old.kind != Buffer::Kind::kTemp ||
        fresh.kind != Buffer::Kind::kTemp) {
      return false;
    }
    const bool same = SameDenseLayout(from.spec, to.spec) && from.offset == 0 && to.offset == 0 &&
                      old.bytes == fresh.bytes && from.spec.bytes() == to.spec.bytes();
    if (!same || last_use_[BufferOf(in)] != at) return false;
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
    last_use_[to] = last_use_[from];
  }

  Graph& g_;
  std::vector<int64_t> last_use_;  // of buffers: the instruction, or their number: outputs
  std::vector<std::vector<ValueId>> values_;  // in each buffer
};

}  // namespace

int64_t MarkInPlace(Graph& graph) { return Marker(graph).Run(); }

}  // namespace firn
