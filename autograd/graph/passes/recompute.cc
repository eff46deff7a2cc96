// A curve of how many bytes live at each operation is kept. While there is a result that lives
// where the curve is highest only because the backward pass will read it, and that can be computed
// again, the largest such goes: its bytes leave the curve between the last reader before the
// backward pass and the first one in it. Workspaces are not known yet and left out.

#include "firn/autograd/graph/passes/recompute.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/passes/channel_source.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/tensor/graph_traits.h"

namespace firn {
namespace {

// Below this size a further operation costs more than the memory is worth.
constexpr int64_t kLargeBytes = int64_t{1} << 16;

// Each takes a walk over the curve.
constexpr size_t kMostCandidates = 1024;

// An operation that computes the results of `instr` again and changes no state. Its arguments are
// the same, except those that `instr` wrote into.
std::optional<Instr> Again(const Instr& instr) {
  const OpDef& op = *instr.op;
  if (op.collective) return {};
  Instr again = instr;
  again.phase = Phase::kBackward;
  if (TraitsOf(op).cheap_again) {
    for (size_t i = 0; i < again.in.size(); ++i) {
      if (op.writes(i)) again.in[i] = kNoValue;
    }
    return again;
  }
  if (!op.elementwise || !op.pure() || op.outputs.size() != 1) return {};
  return again;
}

class Recomputing {
 public:
  explicit Recomputing(Graph& graph)
      : g_(graph),
        uses_(graph),
        spans_(LifespansOf(graph)),
        values_in_(graph.buffers.size(), 0),
        live_(graph.instrs.size() + 2, 0),
        taken_(graph.values.size(), false),
        read_(graph.values.size(), false) {
    for (const Value& v : g_.values) ++values_in_[static_cast<size_t>(v.buffer)];
    AddLifespans();
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      if (std::optional<Candidate> c = CandidateAt(at)) candidates_.push_back(*std::move(c));
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; });
    if (candidates_.size() > kMostCandidates) candidates_.resize(kMostCandidates);
  }

  // Takes candidates as long as there are any, and keeps those up to the one that lowered the peak
  // last.
  PassReport Run() {
    int64_t peak = Peak();
    size_t useful = 0;
    std::vector<Candidate*> taken;
    while (Candidate* c = LargestAtPeak()) {
      Take(*c);
      taken.push_back(c);
      if (Peak() >= peak) continue;
      peak = Peak();
      useful = taken.size();
    }
    taken.resize(useful);
    if (!taken.empty()) Rebuild(taken);
    return std::move(report_);
  }

 private:
  struct Candidate {
    size_t before, after;  // the readers around the gap in the result's life
    int64_t bytes;
    ValueId value;
    Instr again;
  };

  size_t BufferOf(ValueId id) const { return static_cast<size_t>(g_.value(id).buffer); }
  bool IsTemp(ValueId id) const { return g_.buffer_of(id).kind == Buffer::Kind::kTemp; }

  void AddLifespans() {
    for (size_t b = 0; b < spans_.size(); ++b) {
      if (g_.buffers[b].kind != Buffer::Kind::kTemp || !spans_[b].named()) continue;
      live_[spans_[b].first] +=
          g_.buffers[b].bytes;  // first the change at each operation, then the sums
      live_[spans_[b].last + 1] -= g_.buffers[b].bytes;
    }
    std::partial_sum(live_.begin(), live_.end(), live_.begin());
  }

  std::optional<Candidate> CandidateAt(size_t at) const {
    const Instr& instr = g_.instrs[at];
    if (instr.phase != Phase::kForward || instr.out.empty()) return {};
    const ValueId y = instr.out[0];
    const bool alone = IsTemp(y) && !uses_.leaves(y) && values_in_[BufferOf(y)] == 1 &&
                       uses_.writers(g_.value(y).buffer).size() == 1;
    if (!alone || g_.buffer_of(y).bytes < kLargeBytes) return {};
    const absl::Span<const size_t> readers = uses_.readers(y);
    const auto first = std::find_if(readers.begin(), readers.end(), [this](size_t reader) {
      return g_.instrs[reader].phase == Phase::kBackward;
    });
    if (first == readers.begin() || first == readers.end()) return {};
    const size_t before = *(first - 1);
    std::optional<Instr> again = Again(instr);
    if (before + 1 >= *first || !again || !AreThere(*again, at, *first)) return {};
    return Candidate{before, *first, g_.buffer_of(y).bytes, y, *std::move(again)};
  }

  // Whether all arguments are as they were at `at`, and not kept for this.
  bool AreThere(const Instr& again, size_t at, size_t then) const {
    return std::all_of(again.in.begin(), again.in.end(), [&](ValueId id) {
      return id == kNoValue || ((!IsTemp(id) || spans_[BufferOf(id)].last >= then) &&
                                UnchangedBetween(g_, uses_, id, at + 1, then));
    });
  }

  int64_t Peak() const { return *std::max_element(live_.begin(), live_.end()); }

  Candidate* LargestAtPeak() {
    const auto peak =
        static_cast<size_t>(std::max_element(live_.begin(), live_.end()) - live_.begin());
    for (Candidate& c : candidates_) {
      const bool free =
          !taken_[static_cast<size_t>(c.value)] && !read_[static_cast<size_t>(c.value)];
      if (free && c.before < peak && peak < c.after && !ReadsTaken(c.again)) return &c;
    }
    return nullptr;
  }

  bool ReadsTaken(const Instr& again) const {
    return std::any_of(again.in.begin(), again.in.end(), [this](ValueId id) {
      return id != kNoValue && taken_[static_cast<size_t>(id)];
    });
  }

  void Take(Candidate& c) {
    taken_[static_cast<size_t>(c.value)] = true;
    for (size_t at = c.before + 1; at < c.after; ++at) live_[at] -= c.bytes;
    for (ValueId id : c.again.in) {
      if (id != kNoValue) read_[static_cast<size_t>(id)] = true;
    }
  }

  void Rebuild(absl::Span<Candidate* const> taken) {
    std::vector<Insertion> added;
    for (Candidate* candidate : taken) {
      Candidate& c = *candidate;
      report_.Add(absl::StrCat(Describe(c.again), " of ", g_.value(c.value).spec.ToString()));
      for (ValueId& id : c.again.out) id = AddTemp(g_, TensorSpec(g_.value(id).spec));
      const ValueId y = c.again.out[0];
      for (size_t reader : uses_.readers(c.value)) {
        if (reader < c.after) continue;
        auto& in = g_.instrs[reader].in;
        std::replace(in.begin(), in.end(), c.value, y);
      }
      added.push_back({c.after, std::move(c.again)});
    }
    Rearrange(g_, {}, std::move(added));
  }

  Graph& g_;
  const Uses uses_;                    // as the graph was
  const std::vector<Lifespan> spans_;  // by buffer
  std::vector<size_t> values_in_;      // by buffer: how many
  std::vector<int64_t> live_;          // bytes of temporaries, by operation
  std::vector<bool> taken_, read_;     // values computed again, and from which
  std::vector<Candidate> candidates_;  // large ones first
  PassReport report_{.pass = "recompute"};
};

}  // namespace

absl::StatusOr<PassReport> Recompute(Graph& graph) { return Recomputing(graph).Run(); }

}  // namespace firn
