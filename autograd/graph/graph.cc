// Checking and printing graphs.

#include "firn/autograd/graph/graph.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/infer.h"
#include "firn/autograd/graph/visit.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/op.h"
#include "firn/tensor/owner.h"

namespace firn {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : g_(graph), written_(graph.buffers.size(), false) {}

  absl::Status Run() {
    for (size_t id = 0; id < g_.values.size(); ++id) {
      FIRN_RETURN_IF_ERROR(CheckValue(static_cast<ValueId>(id)));
    }
    for (size_t b = 0; b < g_.buffers.size(); ++b) {
      const Buffer::Kind kind = g_.buffers[b].kind;
      written_[b] = kind == Buffer::Kind::kState || kind == Buffer::Kind::kConstant;
    }
    for (ValueId id : g_.inputs) {
      FIRN_RETURN_IF_ERROR(CheckId(id, "an input"));
      FIRN_RETURN_IF(g_.buffer_of(id).kind != Buffer::Kind::kInput,
                     Internal("input %", id, " lies in a buffer of another kind"));
      written_[static_cast<size_t>(g_.value(id).buffer)] = true;
    }
    std::vector<bool> bound(g_.buffers.size(), false);
    for (const Value& v : g_.values) {
      if (v.bound.defined()) bound[static_cast<size_t>(v.buffer)] = true;
    }
    for (size_t b = 0; b < g_.buffers.size(); ++b) {
      const Buffer::Kind kind = g_.buffers[b].kind;
      const bool outside = kind == Buffer::Kind::kState || kind == Buffer::Kind::kConstant;
      FIRN_RETURN_IF(outside && !bound[b], Internal("no tensor holds ", NameOf(kind), " ", b));
    }
    for (const Instr& instr : g_.instrs) FIRN_RETURN_IF_ERROR(CheckInstr(instr));
    for (ValueId id : g_.outputs) FIRN_RETURN_IF_ERROR(CheckRead(id, "an output"));
    for (const GradientEffect& e : g_.gradients) {
      for (const ValueId id : {e.value, e.found}) {
        if (id == kNoValue) continue;
        FIRN_RETURN_IF_ERROR(CheckRead(id, "a gradient"));
        FIRN_RETURN_IF(!g_.value(id).bound.defined(),
                       Internal("no tensor holds the gradient %", id));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckId(ValueId id, std::string_view what) const {
    FIRN_RETURN_IF(id < 0 || static_cast<size_t>(id) >= g_.values.size(),
                   Internal(what, " is value ", id, " of ", g_.values.size()));
    return absl::OkStatus();
  }

  absl::Status CheckValue(ValueId id) const {
    const Value& v = g_.value(id);
    FIRN_RETURN_IF(v.buffer < 0 || static_cast<size_t>(v.buffer) >= g_.buffers.size(),
                   Internal("%", id, " is in buffer ", v.buffer, " of ", g_.buffers.size()));
    const Buffer& b = g_.buffer_of(id);
    if (v.spec.num_elements() == 0) return absl::OkStatus();
    const int64_t size = SizeOf(v.spec.dtype);
    OffsetRange reach{0, v.spec.num_elements() - 1};
    if (!v.spec.dense()) reach = ReachOf(v.spec.shape, v.spec.layout.strides);
    FIRN_RETURN_IF(
        v.offset + reach.low * size < 0 || v.offset + (reach.high + 1) * size > b.bytes,
        Internal("%", id, " ", v.spec.ToString(), " reaches outside its ", b.bytes, " bytes"));
    return absl::OkStatus();
  }

  absl::Status CheckRead(ValueId id, std::string_view what) const {
    FIRN_RETURN_IF_ERROR(CheckId(id, what));
    FIRN_RETURN_IF(!written_[static_cast<size_t>(g_.value(id).buffer)],
                   Internal(what, " %", id, " is read before it is written"));
    return absl::OkStatus();
  }

  absl::Status CheckInstr(const Instr& instr) {
    const std::string_view name = instr.op->name;
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] == kNoValue) continue;
      FIRN_RETURN_IF_ERROR(CheckRead(instr.in[i], name));
      if (!instr.op->writes(i)) continue;
      const Buffer::Kind kind = g_.buffer_of(instr.in[i]).kind;
      FIRN_RETURN_IF(kind == Buffer::Kind::kInput || kind == Buffer::Kind::kConstant,
                     Internal(name, " writes into %", instr.in[i], ", an ", NameOf(kind)));
    }
    FIRN_RETURN_IF(instr.out.size() != instr.op->outputs.size(),
                   Internal(name, " has ", instr.out.size(), " results"));
    FIRN_ASSIGN_OR_RETURN(const Inferred inferred, InferSpecs(g_, instr));
    for (size_t i = 0; i < instr.out.size(); ++i) {
      FIRN_RETURN_IF_ERROR(CheckId(instr.out[i], name));
      const TensorSpec& want = inferred.specs[i];
      const TensorSpec& got = g_.value(instr.out[i]).spec;
      FIRN_RETURN_IF(
          got.dtype != want.dtype || got.shape != want.shape || got.device != want.device,
          Internal(name, " makes ", want.ToString(), ", the graph has ", got.ToString()));
      written_[static_cast<size_t>(g_.value(instr.out[i]).buffer)] = true;
    }
    return absl::OkStatus();
  }

  const Graph& g_;
  std::vector<bool> written_;  // of buffers
};

std::string TextOf(ValueId id) { return id == kNoValue ? "none" : absl::StrCat("%", id); }

std::string TextOf(absl::Span<const ValueView> values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const ValueView& v) {
    absl::StrAppend(out, TextOf(v.id));
  });
}

std::string LineOf(const OpView& operation) {
  std::string line = TextOf(operation.outputs);
  if (!line.empty()) line += " = ";
  absl::StrAppend(&line, std::string(operation.name), "(", TextOf(operation.inputs), ")");
  if (!operation.attributes.empty()) absl::StrAppend(&line, " ", operation.attributes);
  const char* separator = " : ";
  for (const ValueView& v : operation.outputs) {
    absl::StrAppend(&line, separator, v.spec->ToString());
    separator = ", ";
  }
  const std::string path(operation.module_path);
  const bool backward = operation.phase == Phase::kBackward;
  if (backward || !path.empty()) absl::StrAppend(&line, "  #");
  if (!path.empty()) absl::StrAppend(&line, " ", path);
  if (backward) absl::StrAppend(&line, " backward");
  return line;
}

}  // namespace

absl::Status Graph::Verify() const { return Verifier(*this).Run(); }

absl::Status Graph::CheckSwitches() const {
  const auto error = [](const std::string& what, bool then) {
    return FailedPrecondition(what, " was ", then ? "true" : "false",
                              " when the graph was captured and is ", then ? "false" : "true",
                              " now; capture again, or turn it back");
  };
  for (const Switch& s : switches) {
    if (s.now() == s.then) continue;
    if (!s.turns) {
      return FailedPrecondition(s.name, " since the graph was captured; capture again");
    }
    if (!s.kept.defined()) return error(s.name, s.then);
    return FailedPrecondition(s.name,
                              " was replaced, or is computed in another way, since the graph was"
                              " captured (parametrize::Register, RemoveParametrizations, the end of"
                              " a Held, ShareParameter); capture again");
  }
  for (const LeafFlag& f : leaves) {
    if (f.leaf.requires_grad() != f.then) {
      return error("requires_grad() of " + NameOfKept(f.leaf), f.then);
    }
  }
  return absl::OkStatus();
}

std::string Graph::DebugString() const {
  std::string text;
  for (size_t id = 0; id < values.size(); ++id) {
    const Value& v = values[id];
    const Buffer& b = buffers[static_cast<size_t>(v.buffer)];
    if (b.kind == Buffer::Kind::kTemp) continue;
    if (b.kind == Buffer::Kind::kState && !v.bound.defined()) continue;
    absl::StrAppend(&text, "%", id, " = ", std::string(NameOf(b.kind)), " : ", v.spec.ToString(),
                    "\n");
  }
  VisitOperations(
      *this, [&text](const OpView& operation) { absl::StrAppend(&text, LineOf(operation), "\n"); });
  absl::StrAppend(
      &text, "return ",
      absl::StrJoin(outputs, ", ", [](std::string* out, ValueId id) { *out += TextOf(id); }), "\n");
  return text;
}

ValueId inner::AddTemp(Graph& graph, const TensorSpec& spec) {
  const auto buffer = static_cast<BufferId>(graph.buffers.size());
  graph.buffers.push_back({Buffer::Kind::kTemp, static_cast<int64_t>(spec.bytes()), spec.device});
  graph.values.push_back({buffer, 0, spec, {}});
  return static_cast<ValueId>(graph.values.size() - 1);
}

}  // namespace firn
