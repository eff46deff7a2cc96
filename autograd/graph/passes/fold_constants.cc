// Constant folding in program order: the results of a folded operation are constants for those that
// follow. A view in its argument's memory needs no computing: its value lies in the constant.

#include "firn/autograd/graph/passes/fold_constants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "firn/autograd/graph/analysis.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

int64_t OffsetOf(const Tensor& t) {
  return t.impl()->data - static_cast<const char*>(t.impl()->storage->data());
}

class Folding {
 public:
  explicit Folding(Graph& graph)
      : graph_(graph), changed_(ChangedInPlace(graph)), holders_(graph.buffers.size()) {
    for (const Value& v : graph.values) {
      if (v.bound.defined()) holders_[static_cast<size_t>(v.buffer)] = &v;
    }
  }

  bool Fold(const Instr& instr) {
    if (!OnConstants(instr)) return false;
    if (IsAlias(graph_, instr)) {
      Value& v = graph_.value(instr.out[0]);
      if (!v.bound.defined()) v.bound = TensorOf(instr.out[0]);
      return true;
    }
    if (!Replaceable(instr) || !SmallEnough(instr)) return false;
    return Compute(instr);
  }

 private:
  bool IsConstant(ValueId id) const { return graph_.buffer_of(id).kind == Buffer::Kind::kConstant; }

  bool OnConstants(const Instr& instr) const {
    return std::all_of(instr.in.begin(), instr.in.end(),
                       [this](ValueId id) { return id == kNoValue || IsConstant(id); });
  }

  bool Replaceable(const Instr& instr) const {
    if (!instr.op->pure() || instr.out.empty()) return false;
    return std::all_of(instr.out.begin(), instr.out.end(), [this](ValueId id) {
      return graph_.buffer_of(id).kind == Buffer::Kind::kTemp &&
             !changed_[static_cast<size_t>(graph_.value(id).buffer)];
    });
  }

  // Expanded views have more elements than memory: neither reading nor writing may grow beyond what
  // is stored.
  bool SmallEnough(const Instr& instr) const {
    std::vector<BufferId> read;
    int64_t arguments = 0, results = 0;
    const auto fits = [&](ValueId id, int64_t most) {
      return id == kNoValue || static_cast<int64_t>(graph_.value(id).spec.bytes()) <= most;
    };
    for (ValueId id : instr.in) {
      if (id != kNoValue) read.push_back(graph_.value(id).buffer);
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (BufferId buffer : read) arguments += graph_.buffers[static_cast<size_t>(buffer)].bytes;
    for (ValueId id : instr.out) results += static_cast<int64_t>(graph_.value(id).spec.bytes());
    const int64_t most = std::max(arguments, kMaxGrownConstantBytes);
    return results <= most && std::all_of(instr.in.begin(), instr.in.end(),
                                          [&](ValueId id) { return fits(id, most); });
  }

  Tensor TensorOf(ValueId id) const {
    if (id == kNoValue) return {};
    const Value& v = graph_.value(id);
    const Value& holder = *holders_[static_cast<size_t>(v.buffer)];
    const TensorImpl& impl = *holder.bound.impl();
    return WrapStorage(impl.storage, impl.data - holder.offset + v.offset, v.spec);
  }

  bool Compute(const Instr& instr) {
    std::vector<Tensor> arguments;
    for (ValueId id : instr.in) arguments.push_back(TensorOf(id));
    TensorList results;
    try {
      const NoGradScope no_grad;
      const NoCaptureScope no_capture;
      results = Apply(*instr.op, std::vector<TensorRef>(arguments.begin(), arguments.end()),
                      instr.attrs.ref());
    } catch (const Error&) {
      return false;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      // Views of the result are already placed in it.
      const Value& v = graph_.value(instr.out[i]);
      if (!SameSpec(results[i].spec(), v.spec) || OffsetOf(results[i]) != v.offset) return false;
    }
    for (size_t i = 0; i < results.size(); ++i) MakeConstant(instr.out[i], std::move(results[i]));
    return true;
  }

  void MakeConstant(ValueId id, Tensor tensor) {
    Value& v = graph_.value(id);
    Buffer& buffer = graph_.buffer_of(id);
    buffer.kind = Buffer::Kind::kConstant;
    buffer.bytes = static_cast<int64_t>(tensor.impl()->storage->bytes());
    v.bound = std::move(tensor);
    holders_[static_cast<size_t>(v.buffer)] = &v;
  }

  Graph& graph_;  // its values stay where they are
  std::vector<bool> changed_;
  std::vector<const Value*> holders_;  // by buffer: a value with its tensor
};

}  // namespace

absl::StatusOr<PassReport> FoldConstants(Graph& graph) {
  PassReport report{.pass = "fold_constants"};
  Folding folding(graph);
  std::erase_if(graph.instrs, [&](const Instr& instr) {
    const bool folded = folding.Fold(instr);
    if (folded) report.Add(Describe(instr));
    return folded;
  });
  return report;
}

}  // namespace firn
