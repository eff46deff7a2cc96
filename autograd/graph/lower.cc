// Lowering walks the instructions once and keeps, for each value of the graph, the value that
// stands for it now: itself, or a copy in another layout.

#include "firn/autograd/graph/lower.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/infer.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

class Lowering {
 public:
  explicit Lowering(const Graph& from) : from_(from), to_(from), written_(ChangedInPlace(from)) {
    to_.instrs.clear();
    for (size_t id = 0; id < from.values.size(); ++id) now_.push_back(static_cast<ValueId>(id));
  }

  absl::StatusOr<Graph> Run() {
    for (const Instr& instr : from_.instrs) {
      Instr next = instr;
      for (ValueId& id : next.in) id = id == kNoValue ? id : now_[static_cast<size_t>(id)];
      FIRN_RETURN_IF_ERROR(instr.op->is_view ? View(instr, std::move(next))
                                             : Call(std::move(next)));
    }
    for (ValueId& id : to_.outputs) id = now_[static_cast<size_t>(id)];
    for (GradientEffect& e : to_.gradients) {
      if (e.value != kNoValue) e.value = now_[static_cast<size_t>(e.value)];
    }
    return std::move(to_);
  }

 private:
  size_t BufferOf(ValueId id) const { return static_cast<size_t>(from_.value(id).buffer); }

  // Appends `to` = reorder(`from`).
  absl::Status EmitReorder(ValueId from, ValueId to, const Instr& on_behalf_of) {
    const OpDef& op = TheOp<"reorder">();
    Instr copy;
    copy.op = &op;
    copy.attrs = Attrs(ReorderAttrs{to_.value(to).spec.layout.channel_block});
    copy.in = {from};
    copy.out = {to};
    copy.path = on_behalf_of.path;
    copy.phase = on_behalf_of.phase;
    FIRN_ASSIGN_OR_RETURN(const Prepared p, KernelCall(to_, copy).Prepare());
    copy.kernel = p.kernel;
    to_.instrs.push_back(std::move(copy));
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> Copy(ValueId id, int32_t block, const Instr& on_behalf_of) {
    const TensorSpec& spec = to_.value(id).spec;
    const ValueId copy =
        AddTemp(to_, TensorSpec::Blocked(spec.dtype, spec.shape, spec.device, block));
    FIRN_RETURN_IF_ERROR(EmitReorder(id, copy, on_behalf_of));
    return copy;
  }

  // The value with this layout, from an earlier reorder where there is one.
  absl::StatusOr<ValueId> InLayout(ValueId id, int32_t block, const Instr& on_behalf_of) {
    const auto [it, inserted] = copies_.try_emplace({id, block}, kNoValue);
    if (inserted) {
      FIRN_ASSIGN_OR_RETURN(it->second, Copy(id, block, on_behalf_of));
      copied_from_[to_.value(id).buffer].push_back({id, block});
    }
    return it->second;
  }

  void ForgetCopies(BufferId buffer) {
    const auto made = copied_from_.find(buffer);
    if (made == copied_from_.end()) return;
    for (const auto& key : made->second) copies_.erase(key);
    copied_from_.erase(made);
  }

  absl::Status View(const Instr& before, Instr instr) {
    const size_t from = BufferOf(before.in[0]), result = BufferOf(before.out[0]);
    // The captured run made a copy where the argument was blocked, so a write into one does not
    // show in the other.
    const bool copied = from != result && (written_[from] || written_[result]);
    if (copied) {
      FIRN_ASSIGN_OR_RETURN(instr.in[0], Copy(instr.in[0], 0, instr));
    } else if (to_.value(instr.in[0]).spec.layout.blocked()) {
      FIRN_ASSIGN_OR_RETURN(instr.in[0], InLayout(instr.in[0], 0, instr));
    }
    FIRN_ASSIGN_OR_RETURN(const Inferred inferred, InferSpecs(to_, instr));
    const Value& base = to_.value(instr.in[0]);
    Value& view = to_.value(instr.out[0]);
    view.buffer = base.buffer;
    view.spec = inferred.specs[0];
    view.offset = base.offset + inferred.view_offset * SizeOf(base.spec.dtype);
    to_.instrs.push_back(std::move(instr));
    return absl::OkStatus();
  }

  absl::Status Call(Instr instr) {
    FIRN_ASSIGN_OR_RETURN(Inferred inferred, InferSpecs(to_, instr));
    FIRN_ASSIGN_OR_RETURN(const Prepared p, KernelCall(to_, instr, inferred.specs).Prepare());
    instr.kernel = p.kernel;
    const bool asks = !p.as_is;
    const LayoutRequest& want = p.layouts;
    overwritten_.clear();
    for (size_t i = 0; instr.op->any_inout && i < instr.in.size(); ++i) {
      const bool written = instr.in[i] != kNoValue && instr.op->writes(i);
      if (written) overwritten_.insert(to_.value(instr.in[i]).buffer);
    }
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] == kNoValue) continue;
      FIRN_RETURN_IF_ERROR(Arrange(instr, i, asks, asks ? want.in[i] : 0));
    }
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] != kNoValue && instr.op->writes(i)) {
        ForgetCopies(to_.value(instr.in[i]).buffer);
      }
    }
    std::vector<std::pair<ValueId, ValueId>> moves;  // into memory whose layout is given
    for (size_t i = 0; i < instr.out.size(); ++i) {
      TensorSpec spec = inferred.specs[i];
      if (asks && want.out[i] != 0) {
        spec = TensorSpec::Blocked(spec.dtype, spec.shape, spec.device, want.out[i]);
      }
      Value& out = to_.value(instr.out[i]);
      Buffer& buffer = to_.buffer_of(instr.out[i]);
      if (buffer.kind == Buffer::Kind::kTemp) {
        out.spec = spec;
        out.offset = 0;
        buffer.bytes = static_cast<int64_t>(spec.bytes());
      } else if (!SameDenseLayout(out.spec, spec)) {
        const ValueId place = instr.out[i];
        instr.out[i] = AddTemp(to_, spec);
        moves.emplace_back(instr.out[i], place);
      }
    }
    to_.instrs.push_back(std::move(instr));
    const Instr on_behalf_of(to_.instrs.back());
    for (const auto& [from, to] : moves) {
      FIRN_RETURN_IF_ERROR(EmitReorder(from, to, on_behalf_of));
    }
    return absl::OkStatus();
  }

  // Brings input `i` into the layout that the kernel takes.
  absl::Status Arrange(Instr& instr, size_t i, bool asks, int32_t block) {
    const ValueId id = instr.in[i];
    const bool fits = !asks || internal::Fits(*instr.kernel, to_.value(id).spec, block);
    if (instr.op->writes(i)) {
      FIRN_RETURN_IF(!fits && to_.buffer_of(id).kind != Buffer::Kind::kTemp,
                     InvalidArgument(std::string(instr.op->name), ": ", instr.op->input(i).name,
                                     " is written in place and must be contiguous, got ",
                                     to_.value(id).spec.ToString()));
      if (!fits) {
        FIRN_ASSIGN_OR_RETURN(instr.in[i], Replace(id, block, instr));
      }
      return absl::OkStatus();
    }
    if (!fits) {
      FIRN_ASSIGN_OR_RETURN(instr.in[i], InLayout(id, block, instr));
    } else if (overwritten_.contains(to_.value(id).buffer)) {
      const int32_t own = to_.value(id).spec.layout.channel_block;
      FIRN_ASSIGN_OR_RETURN(instr.in[i], Copy(id, own, instr));
    }
    return absl::OkStatus();
  }

  // A temporary that is written in place moves to where it has the right layout, for good.
  absl::StatusOr<ValueId> Replace(ValueId id, int32_t block, const Instr& instr) {
    FIRN_ASSIGN_OR_RETURN(const ValueId copy, Copy(id, block, instr));
    for (ValueId& now : now_) now = now == id ? copy : now;
    return copy;
  }

  const Graph& from_;
  Graph to_;
  std::vector<ValueId> now_;   // by value of from_
  std::vector<bool> written_;  // buffers of from_ that an operation changes in place
  absl::flat_hash_set<BufferId> overwritten_;  // those of to_ that the call writes in place
  std::map<std::pair<ValueId, int32_t>, ValueId> copies_;
  std::map<BufferId, std::vector<std::pair<ValueId, int32_t>>> copied_from_;  // keys of copies_
};

}  // namespace

absl::StatusOr<Graph> Lower(const Graph& graph) { return Lowering(graph).Run(); }

}  // namespace firn
