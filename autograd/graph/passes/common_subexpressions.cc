// Two calls are the same if operation, attributes and arguments are, and if the buffers of the
// arguments have been written equally often before each: then they hold the same elements.

#include "firn/autograd/graph/passes/common_subexpressions.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/passes/rewrite.h"

namespace firn {
namespace {

// Equal constants of up to this size, such as numbers, become one.
constexpr size_t kSmallConstant = 64;

class Merging {
 public:
  explicit Merging(Graph& graph) : graph_(graph), uses_(graph) {
    for (size_t b = 0; b < graph.buffers.size(); ++b) {
      last_readers_.push_back(uses_.last_reader(static_cast<BufferId>(b)));
    }
  }

  void MergeConstants() {
    absl::flat_hash_map<uint64_t, std::vector<ValueId>> all;  // by hash: those that are kept
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (!IsSmallConstant(id)) continue;
      std::vector<ValueId>& kept = all[HashOf(graph_.value(id))];
      const auto same = std::find_if(kept.begin(), kept.end(),
                                     [&](ValueId other) { return SameElements(other, id); });
      if (same == kept.end()) {
        kept.push_back(id);
      } else {
        graph_.buffer_of(id).kind = Buffer::Kind::kTemp;  // no value needs it from here on
        renaming_.Replace(graph_, id, *same);
        graph_.value(id).bound = Tensor();
      }
    }
  }

  // True if operation `at` repeats an earlier one, whose results now stand for its own.
  bool Repeats(size_t at) {
    Instr& instr = graph_.instrs[at];
    renaming_.RenameInputs(instr);
    if (!Mergeable(instr)) return false;
    Call call{at, VersionsAt(instr, at)};
    std::vector<Call>& alike = calls_[HashOf(instr, call.versions)];
    for (const Call& first : alike) {
      if (first.versions == call.versions && Merge(graph_.instrs[first.at], instr, at)) return true;
    }
    alike.push_back(std::move(call));
    return false;
  }

  void Finish() const { renaming_.Apply(graph_); }

 private:
  using Versions = absl::InlinedVector<size_t, 4>;
  struct Call {
    size_t at;
    Versions versions;
  };

  // The whole of its buffer, and on the host.
  bool IsSmallConstant(ValueId id) const {
    const Value& v = graph_.value(id);
    const Buffer& buffer = graph_.buffer_of(id);
    return buffer.kind == Buffer::Kind::kConstant && v.bound.defined() && v.spec.dense() &&
           v.spec.bytes() <= kSmallConstant && buffer.device.type == DeviceType::kCpu &&
           buffer.bytes == static_cast<int64_t>(v.spec.bytes());
  }

  bool SameElements(ValueId a, ValueId b) const {
    const Value &x = graph_.value(a), &y = graph_.value(b);
    return x.buffer != y.buffer && Renaming::CanReplace(graph_, a, b) &&
           std::memcmp(x.bound.impl()->data, y.bound.impl()->data, x.spec.bytes()) == 0;
  }

  bool Mergeable(const Instr& instr) const {
    if (!instr.op->pure() || instr.out.empty()) return false;
    if (IsAlias(graph_, instr)) return !graph_.value(instr.out[0]).bound.defined();
    return std::all_of(instr.out.begin(), instr.out.end(), [this](ValueId id) {
      return graph_.buffer_of(id).kind == Buffer::Kind::kTemp &&
             !uses_.changed(graph_.value(id).buffer);
    });
  }

  // The versions are part of the hash: calls on a buffer that a loop writes anew differ only in
  // them.
  static uint64_t HashOf(const Instr& instr, const Versions& versions) {
    const uint64_t attrs = Hash(instr.attrs.ref());
    return absl::HashOf(instr.op, attrs, absl::MakeConstSpan(instr.in),
                        absl::MakeConstSpan(versions));
  }

  static uint64_t HashOf(const Value& constant) {
    const TensorSpec& spec = constant.spec;
    return absl::HashOf(spec.dtype, absl::MakeConstSpan(spec.shape.begin(), spec.shape.end()),
                        absl::string_view(constant.bound.impl()->data, spec.bytes()));
  }

  // A view stays the same view whatever is written; other results depend on elements.
  Versions VersionsAt(const Instr& instr, size_t at) const {
    Versions versions;
    if (IsAlias(graph_, instr)) return versions;
    for (ValueId id : instr.in) {
      versions.push_back(id == kNoValue ? 0 : uses_.VersionAt(graph_.value(id).buffer, at));
    }
    return versions;
  }

  bool Merge(const Instr& first, const Instr& instr, size_t at) {
    if (first.op != instr.op || first.in != instr.in ||
        !Equal(first.attrs.ref(), instr.attrs.ref())) {
      return false;
    }
    for (size_t i = 0; i < instr.out.size(); ++i) {
      if (!Renaming::CanReplace(graph_, instr.out[i], first.out[i])) return false;
      const bool kept = IsAlias(graph_, instr) || LastReader(first.out[i]) >= at;
      if (first.phase != instr.phase && !kept) return false;
    }
    for (size_t i = 0; i < instr.out.size(); ++i) {
      if (instr.out[i] == first.out[i]) continue;
      const size_t last = LastReader(instr.out[i]);
      renaming_.Replace(graph_, instr.out[i], first.out[i]);
      LastReader(first.out[i]) = std::max(LastReader(first.out[i]), last);
    }
    return true;
  }

  size_t& LastReader(ValueId id) {
    return last_readers_[static_cast<size_t>(graph_.value(id).buffer)];
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<size_t> last_readers_;  // by buffer
  Renaming renaming_;
  absl::flat_hash_map<uint64_t, std::vector<Call>> calls_;  // that were kept
};

}  // namespace

absl::StatusOr<PassReport> MergeCommonSubexpressions(Graph& graph) {
  PassReport report{.pass = "common_subexpressions"};
  Merging merging(graph);
  merging.MergeConstants();
  std::vector<bool> repeats(graph.instrs.size());
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    repeats[i] = merging.Repeats(i);
    if (repeats[i]) report.Add(Describe(graph.instrs[i]));
  }
  Rearrange(graph, repeats);
  merging.Finish();
  return report;
}

}  // namespace firn
