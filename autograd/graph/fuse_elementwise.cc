// One walk collects operations into an open chain until one comes that does not fit. A result stays
// in the chain if nothing else reads it, and then exists a tile at a time.
//
// On CUDA the chain is compiled right away; where that fails, the operations stay separate.
//
// Results may lie over arguments (MarkInPlace). A tile goes through the whole chain before the next
// one begins, so that is right where both lie at the same place, element by element.

#include "firn/autograd/graph/fuse_elementwise.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/internal/elementwise_program.h"
#include "firn/tensor/kernels/cuda/chain_kernel.h"
#include "firn/tensor/kernels/cuda/chain_source.h"

namespace firn {
namespace {

using internal::ElementwiseProgram;

// Below this a loop stays on one CPU thread and in its cache anyway. On CUDA a short chain takes as
// long as a launch, whatever it computes.
int64_t SmallestChain(Device device) { return device.type == DeviceType::kCpu ? 16384 : 2; }

bool FitsChain(const OpDef& op, const Kernel& k) {
  return k.takes == Takes::kElementwise && k.layouts == nullptr && k.workspace == nullptr &&
         k.prepare == nullptr && (k.device == DeviceType::kCpu || cuda::HasSource(op));
}

class Fuser {
 public:
  explicit Fuser(Graph& graph) : g_(graph), uses_(graph) {}

  absl::StatusOr<PassReport> Run() {
    std::vector<Instr> instrs = std::move(g_.instrs);
    for (size_t at = 0; at < instrs.size(); ++at) {
      Instr& instr = instrs[at];
      if (IsAlias(g_, instr) && !WrittenInChain(instr.in[0])) {
        done_.push_back(std::move(instr));  // views may stand before the chain
        continue;
      }
      const bool fits = Fits(instr);
      if (!chain_.empty() && (!fits || !Joins(instr))) FIRN_RETURN_IF_ERROR(CloseChain());
      if (fits) {
        chain_.push_back({std::move(instr), at});
      } else {
        done_.push_back(std::move(instr));
      }
    }
    FIRN_RETURN_IF_ERROR(CloseChain());
    g_.instrs = std::move(done_);
    return std::move(report_);
  }

 private:
  struct Member {
    Instr instr;
    size_t at;
  };

  bool Single(ValueId id) const { return g_.value(id).spec.num_elements() == 1; }

  // Whether the operation can be in a chain.
  bool Fits(const Instr& instr) const {
    const OpDef& op = *instr.op;
    if (!op.elementwise || !op.pure() || instr.out.size() != 1 ||
        instr.in.size() > ElementwiseProgram::kMaxStepInputs ||
        uses_.maker(instr.out[0]) == Uses::kNone) {
      return false;
    }
    const TensorSpec& y = g_.value(instr.out[0]).spec;
    if (y.num_elements() < SmallestChain(y.device) || !y.dense()) return false;
    for (ValueId id : instr.in) {
      if (id == kNoValue || Single(id)) continue;
      if (!SameDenseLayout(g_.value(id).spec, y)) return false;
    }
    return FitsChain(op, *instr.kernel);
  }

  bool WrittenInChain(ValueId id) const {
    return std::any_of(chain_.begin(), chain_.end(), [&](const Member& m) {
      return g_.value(m.instr.out[0]).buffer == g_.value(id).buffer;
    });
  }

  // True unless the two share memory in another way than element by element.
  bool Apart(ValueId a, ValueId b) const {
    const Value &va = g_.value(a), &vb = g_.value(b);
    return va.buffer != vb.buffer || (va.offset == vb.offset && SameDenseLayout(va.spec, vb.spec) &&
                                      SizeOf(va.spec.dtype) == SizeOf(vb.spec.dtype));
  }

  bool Joins(const Instr& instr) const {
    const Instr& first = chain_.front().instr;
    if (chain_.size() == ElementwiseProgram::kMaxSteps || instr.phase != first.phase) return false;
    const ValueId y = instr.out[0];
    const TensorSpec &spec = g_.value(y).spec, &chain = g_.value(first.out[0]).spec;
    if (spec.device != chain.device || !SameDenseLayout(spec, chain)) return false;
    for (const Member& m : chain_) {
      const auto apart = [&](ValueId id, ValueId result) {
        return id == kNoValue || Apart(id, result);
      };
      for (ValueId id : instr.in) {
        if (!apart(id, m.instr.out[0])) return false;
      }
      for (ValueId id : m.instr.in) {
        if (!apart(id, y)) return false;
      }
      if (!Apart(m.instr.out[0], y)) return false;
    }
    return true;
  }

  // Whether the result of member `i` is read in the chain alone.
  bool StaysInChain(size_t i) const {
    const ValueId y = chain_[i].instr.out[0];
    const BufferId buffer = g_.value(y).buffer;
    const size_t end = chain_.back().at;
    if (g_.buffer_of(y).kind != Buffer::Kind::kTemp || uses_.leaves(y)) return false;
    if (!uses_.readers(y).empty() && uses_.readers(y).back() > end) return false;
    const bool overwritten =
        std::any_of(chain_.begin() + static_cast<std::ptrdiff_t>(i) + 1, chain_.end(),
                    [&](const Member& m) { return g_.value(m.instr.out[0]).buffer == buffer; });
    return overwritten ||
           (uses_.last_reader(buffer) != Uses::kNone && uses_.last_reader(buffer) <= end);
  }

  absl::Status CloseChain() {
    std::vector<bool> stays(chain_.size());
    for (size_t i = 0; i < chain_.size(); ++i) stays[i] = StaysInChain(i);
    const bool read = std::find(stays.begin(), stays.end(), false) != stays.end();
    std::optional<Instr> fused;
    if (chain_.size() >= 2 && read) {
      FIRN_ASSIGN_OR_RETURN(fused, FuseChain(stays));
    }
    if (fused.has_value()) {
      done_.push_back(*std::move(fused));
    } else {
      for (Member& m : chain_) done_.push_back(std::move(m.instr));
    }
    chain_.clear();
    return absl::OkStatus();
  }

  // Returns nothing if the device cannot run the chain as one operation.
  absl::StatusOr<std::optional<Instr>> FuseChain(const std::vector<bool>& stays) {
    auto program = std::make_shared<ElementwiseProgram>();
    const TensorSpec& spec = g_.value(chain_[0].instr.out[0]).spec;
    program->shape = spec.shape;
    program->channel_block = spec.layout.channel_block;
    Instr fused;
    fused.phase = chain_.front().instr.phase;
    fused.path = chain_.back().instr.path;
    const absl::flat_hash_map<ValueId, int> number = NumberOperands(stays, &fused, program.get());
    std::string names;
    for (const Member& m : chain_) {
      ElementwiseProgram::Step step{m.instr.op, m.instr.kernel, m.instr.attrs, {}, 0};
      for (ValueId id : m.instr.in) step.in.push_back(id == kNoValue ? -1 : number.at(id));
      step.out = number.at(m.instr.out[0]);
      absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(m.instr.op->name));
      program->steps.push_back(std::move(step));
    }
    AssignSlots(program.get());
    program->Finish();
    if (spec.device.type == DeviceType::kCuda) {
      auto kernel = cuda::CompileChain(*program, spec.device);
      if (!kernel.ok()) return std::optional<Instr>();
      program->kernel = *std::move(kernel);
    }
    report_.Add(absl::StrCat(names, " on ", spec.ToString(),
                             fused.path == nullptr ? "" : absl::StrCat(" at ", *fused.path)));
    fused.op = &internal::ElementwiseProgramOp(fused.out.size());
    fused.attrs = Attrs(internal::ElementwiseProgramAttrs{std::move(program)});
    FIRN_ASSIGN_OR_RETURN(const Prepared p, KernelCall(g_, fused).Prepare());
    fused.kernel = p.kernel;
    return std::optional<Instr>(std::move(fused));
  }

  // Numbers inputs, results and what stays, in this order, and lists the first two in `fused`.
  absl::flat_hash_map<ValueId, int> NumberOperands(const std::vector<bool>& stays, Instr* fused,
                                                   ElementwiseProgram* program) const {
    absl::flat_hash_map<ValueId, int> number;
    const auto add = [&](ValueId id) {
      if (!number.emplace(id, static_cast<int>(number.size())).second) return false;
      program->operands.push_back({g_.value(id).spec.dtype, Single(id)});
      return true;
    };
    std::vector<ValueId> made;
    for (const Member& m : chain_) {
      for (ValueId id : m.instr.in) {
        const bool outside =
            id != kNoValue && std::find(made.begin(), made.end(), id) == made.end();
        if (outside && add(id)) fused->in.push_back(id);
      }
      made.push_back(m.instr.out[0]);
    }
    for (size_t i = 0; i < made.size(); ++i) {
      if (!stays[i] && add(made[i])) fused->out.push_back(made[i]);
    }
    for (ValueId id : made) add(id);
    program->num_inputs = fused->in.size();
    program->num_results = fused->out.size();
    return number;
  }

  // A slot is free again after the last step that reads it.
  static void AssignSlots(ElementwiseProgram* p) {
    const auto first = static_cast<int>(p->num_inputs + p->num_results);
    std::vector<size_t> last_read(p->operands.size(), 0);
    for (size_t s = 0; s < p->steps.size(); ++s) {
      for (int i : p->steps[s].in) {
        if (i >= 0) last_read[static_cast<size_t>(i)] = s;
      }
    }
    std::vector<size_t> free_from;  // by slot: the first step that may write it
    for (size_t s = 0; s < p->steps.size(); ++s) {
      const auto out = static_cast<size_t>(p->steps[s].out);
      if (p->steps[s].out < first) continue;
      auto slot =
          std::find_if(free_from.begin(), free_from.end(), [s](size_t from) { return from <= s; });
      if (slot == free_from.end()) slot = free_from.insert(slot, 0);
      *slot = std::max(last_read[out], s) + 1;
      p->operands[out].slot = static_cast<int>(slot - free_from.begin());
    }
    p->num_slots = free_from.size();
  }

  Graph& g_;
  const Uses uses_;  // as the graph was
  std::vector<Member> chain_;
  std::vector<Instr> done_;
  PassReport report_{.pass = "fuse_elementwise"};
};

}  // namespace

absl::StatusOr<PassReport> FuseElementwise(Graph& graph) { return Fuser(graph).Run(); }

}  // namespace firn
