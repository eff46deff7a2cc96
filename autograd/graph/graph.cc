// Checking and printing graphs.

#include "autograd/graph/graph.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "autograd/graph/infer.h"
#include "device/status_macros.h"

namespace firn {
namespace {

const char* NameOf(Buffer::Kind kind) {
  switch (kind) {
    case Buffer::Kind::kInput:
      return "input";
    case Buffer::Kind::kState:
      return "state";
    case Buffer::Kind::kConstant:
      return "constant";
    case Buffer::Kind::kTemp:
      return "temp";
  }
  return "?";
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : g_(graph), written_(graph.buffers.size(), false) {}

  absl::Status Run() {
    for (size_t id = 0; id < g_.values.size(); ++id) {
      FIRN_RETURN_IF_ERROR(CheckValue(static_cast<ValueId>(id)));
    }
    for (size_t b = 0; b < g_.buffers.size(); ++b) {
      written_[b] = g_.buffers[b].kind != Buffer::Kind::kTemp;
    }
    for (ValueId id : g_.inputs) {
      FIRN_RETURN_IF_ERROR(CheckId(id, "an input"));
      FIRN_RETURN_IF(g_.buffer_of(id).kind != Buffer::Kind::kInput,
                     Internal("input %", id, " lies in a buffer of another kind"));
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
      if (e.value != kNoValue) FIRN_RETURN_IF_ERROR(CheckRead(e.value, "a gradient"));
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
      if (!Writes(*instr.op, i)) continue;
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

// Attributes as "{alpha=1, dims=[0, 1]}", or "" when there are none.
class AttrPrinter final : public AttrVisitor {
 public:
  void Field(const char* name, int64_t& value) override { Add(name, absl::StrCat(value)); }
  void Field(const char* name, double& value) override { Add(name, absl::StrCat(value)); }
  void Field(const char* name, bool& value) override { Add(name, value ? "true" : "false"); }
  void Field(const char* name, std::string& value) override {
    Add(name, absl::StrCat("\"", value, "\""));
  }
  void Field(const char* name, std::vector<int64_t>& value) override {
    Add(name, absl::StrCat("[", absl::StrJoin(value, ", "), "]"));
  }
  using AttrVisitor::Field;
  std::string text() const { return text_.empty() ? "" : absl::StrCat(" {", text_, "}"); }

 private:
  void Add(const char* name, const std::string& value) {
    absl::StrAppend(&text_, text_.empty() ? "" : ", ", name, "=", value);
  }
  std::string text_;
};

std::string TextOf(const Attrs& attrs) {
  AttrPrinter printer;
  if (attrs.ref().type() != nullptr) {
    Attrs copy(attrs);  // a visitor may change what it sees
    copy.ref().type()->visit(copy.mutable_data(), printer);
  }
  return printer.text();
}

std::string TextOf(absl::Span<const ValueId> ids) {
  return absl::StrJoin(ids, ", ", [](std::string* out, ValueId id) {
    absl::StrAppend(out, id == kNoValue ? "none" : absl::StrCat("%", id));
  });
}

}  // namespace

absl::Status Graph::Verify() const { return Verifier(*this).Run(); }

std::string Graph::DebugString() const {
  std::string text;
  for (size_t id = 0; id < values.size(); ++id) {
    const Value& v = values[id];
    const Buffer& b = buffers[static_cast<size_t>(v.buffer)];
    if (b.kind == Buffer::Kind::kTemp) continue;
    if (b.kind == Buffer::Kind::kState && !v.bound.defined()) continue;
    absl::StrAppend(&text, "%", id, " = ", NameOf(b.kind), " : ", v.spec.ToString(), "\n");
  }
  for (const Instr& instr : instrs) {
    if (!instr.out.empty()) absl::StrAppend(&text, TextOf(instr.out), " = ");
    absl::StrAppend(&text, std::string(instr.op->name), "(", TextOf(instr.in), ")",
                    TextOf(instr.attrs));
    const char* separator = " : ";
    for (ValueId id : instr.out) {
      absl::StrAppend(&text, separator, value(id).spec.ToString());
      separator = ", ";
    }
    if (instr.path != nullptr) absl::StrAppend(&text, "  # ", *instr.path);
    if (instr.phase == Phase::kBackward) {
      absl::StrAppend(&text, instr.path == nullptr ? "  # backward" : " backward");
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "return ", TextOf(outputs), "\n");
  return text;
}

}  // namespace firn
