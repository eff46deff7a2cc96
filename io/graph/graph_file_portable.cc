// Makes a graph independent of the run it was captured in: results that the program held become
// temporaries, blocked layouts become row-major, buffers are cut to the values in them, and values
// that no operation needs are removed.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/tensor/op.h"

namespace firn::io {
namespace {

constexpr int64_t kAlignment = 64;  // the alignment that cutting a buffer's front keeps

// Numbers of a value or buffer that has no new one yet.
constexpr int32_t kKept = -2, kNoBuffer = -1;

// The graph as a file has it. Values keep the tensors they have in this program.
class Portable {
 public:
  explicit Portable(const Graph& from) : from_(from), values_(from.values.size(), kNoValue) {}

  absl::StatusOr<Graph> Make() {
    for (const Instr& instr : from_.instrs) {
      for (ValueId id : instr.in) Keep(id);
      for (ValueId id : instr.out) Keep(id);
    }
    for (ValueId id : from_.inputs) Keep(id);
    for (ValueId id : from_.outputs) Keep(id);
    Number();
    FIRN_RETURN_IF_ERROR(Plain());
    Forget();
    Cut();
    to_.warnings = from_.warnings;
    return std::move(to_);
  }

 private:
  void Keep(ValueId id) {
    if (id != kNoValue) values_[static_cast<size_t>(id)] = kKept;
  }

  // What is kept, numbered anew in the old order.
  void Number() {
    std::vector<BufferId> buffers(from_.buffers.size(), kNoBuffer);
    for (size_t id = 0; id < values_.size(); ++id) {
      if (values_[id] == kKept) buffers[static_cast<size_t>(from_.values[id].buffer)] = kKept;
    }
    for (size_t old = 0; old < buffers.size(); ++old) {
      if (buffers[old] != kKept) continue;
      buffers[old] = static_cast<BufferId>(to_.buffers.size());
      to_.buffers.push_back(from_.buffers[old]);
    }
    for (size_t old = 0; old < values_.size(); ++old) {
      if (values_[old] != kKept) continue;
      values_[old] = static_cast<ValueId>(to_.values.size());
      to_.values.push_back(from_.values[old]);
      BufferId& buffer = to_.values.back().buffer;
      buffer = buffers[static_cast<size_t>(buffer)];
    }
    const auto numbered = [this](auto& ids) {
      for (ValueId& id : ids) id = id == kNoValue ? id : values_[static_cast<size_t>(id)];
    };
    to_.instrs = from_.instrs;
    for (Instr& instr : to_.instrs) {
      numbered(instr.in);
      numbered(instr.out);
    }
    to_.inputs = from_.inputs;
    to_.outputs = from_.outputs;
    numbered(to_.inputs);
    numbered(to_.outputs);
  }

  // Row-major where a kernel of this machine chose blocks.
  absl::Status Plain() {
    std::map<BufferId, const Value*> blocked;
    for (Value& v : to_.values) {
      if (v.spec.layout.blocked()) blocked[v.buffer] = &v;
    }
    for (Value& v : to_.values) {
      const auto found = blocked.find(v.buffer);
      if (found == blocked.end()) continue;
      const Value& other = *found->second;
      const bool same = v.spec.shape == other.spec.shape && v.offset == other.offset;
      FIRN_RETURN_IF(!same, Unimplemented("a view of ", other.spec.ToString(), " is ",
                                          v.spec.ToString(), ", which no file can say"));
    }
    for (Value& v : to_.values) {
      if (v.spec.layout.blocked()) {
        v.spec = TensorSpec::Contiguous(v.spec.dtype, v.spec.shape, v.spec.device);
      }
    }
    return absl::OkStatus();
  }

  // Every run makes anew what its operations make, so tensors that the program held after the
  // captured run become temporaries.
  void Forget() {
    std::vector<bool> made(to_.buffers.size());
    for (const Instr& instr : to_.instrs) {
      for (ValueId id : instr.out) {
        const BufferId buffer = to_.value(id).buffer;
        const bool shares = instr.op->is_view && to_.value(instr.in[0]).buffer == buffer;
        if (!shares) made[static_cast<size_t>(buffer)] = true;
      }
    }
    for (size_t b = 0; b < made.size(); ++b) {
      if (made[b]) to_.buffers[b].kind = Buffer::Kind::kTemp;
    }
    for (Value& v : to_.values) {
      if (made[static_cast<size_t>(v.buffer)]) v.bound = Tensor();
    }
  }

  void Cut() {
    struct Range {
      int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
    };
    std::vector<Range> ranges(to_.buffers.size());
    for (const Value& v : to_.values) {
      if (v.spec.num_elements() == 0) continue;
      const OffsetRange reach = ReachOf(v.spec.shape, v.spec.layout.strides);
      const int64_t size = SizeOf(v.spec.dtype);
      Range& range = ranges[static_cast<size_t>(v.buffer)];
      range.begin = std::min(range.begin, v.offset + reach.low * size);
      range.end = std::max(range.end, v.offset + (reach.high + 1) * size);
    }
    for (size_t b = 0; b < ranges.size(); ++b) {
      ranges[b].begin = std::min(ranges[b].begin, ranges[b].end) / kAlignment * kAlignment;
      to_.buffers[b].bytes = ranges[b].end - ranges[b].begin;
    }
    for (Value& v : to_.values) {
      v.offset =
          v.spec.num_elements() == 0 ? 0 : v.offset - ranges[static_cast<size_t>(v.buffer)].begin;
    }
  }

  const Graph& from_;
  Graph to_;
  // By old number: the new one; kKept until it is known; kNoValue for values that nothing uses.
  std::vector<ValueId> values_;
};

}  // namespace

absl::StatusOr<Graph> MakePortable(const Graph& graph) { return Portable(graph).Make(); }

}  // namespace firn::io
