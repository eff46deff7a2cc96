// Graph::Verify trusts that a graph was captured. A graph from a file needs further checks: every
// number in range before anything is computed with it, every operation called as Apply would have
// allowed, and no memory that is written while something else reads it.
//
// The last check matters because kernels check indices before they run, and a result that lies over
// its own indices would change them afterwards. In a captured run results are new memory; so here a
// temporary has one maker, which fills it from its start.
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/infer.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/tensor/op.h"

namespace firn::io {
namespace {

// The bytes that a value covers in its buffer, `end` excluded. False on overflow.
bool BytesOf(const Value& v, int64_t* begin, int64_t* end) {
  __int128 low = 0, high = 0;
  if (v.spec.num_elements() == 0) {
    *begin = *end = v.offset;
    return true;
  }
  for (int i = 0; i < v.spec.shape.rank(); ++i) {
    const __int128 span = (__int128{v.spec.shape[i]} - 1) * v.spec.layout.strides[i];
    (span < 0 ? low : high) += span;
  }
  const int64_t size = SizeOf(v.spec.dtype);
  low = low * size + v.offset;
  high = (high + 1) * size + v.offset;
  *begin = static_cast<int64_t>(low);
  *end = static_cast<int64_t>(high);
  return low == *begin && high == *end;
}

class Checker {
 public:
  explicit Checker(const Graph& graph)
      : g_(graph),
        defined_(graph.values.size(), false),
        touched_(graph.buffers.size(), false),
        input_of_(graph.buffers.size(), kNoValue) {}

  absl::Status Run() {
    for (const Buffer& b : g_.buffers) {
      FIRN_RETURN_IF(b.bytes < 0, InvalidArgument("a buffer has ", b.bytes, " bytes"));
    }
    for (size_t id = 0; id < g_.values.size(); ++id) {
      FIRN_RETURN_IF_ERROR(CheckValue(static_cast<ValueId>(id)));
    }
    FIRN_RETURN_IF_ERROR(CheckInputs());
    for (const Instr& instr : g_.instrs) FIRN_RETURN_IF_ERROR(CheckInstr(instr));
    for (ValueId id : g_.outputs) FIRN_RETURN_IF_ERROR(CheckDefined(id, "a result"));
    return g_.Verify();
  }

 private:
  absl::Status CheckValue(ValueId id) {
    const Value& v = g_.value(id);
    FIRN_RETURN_IF(v.buffer < 0 || static_cast<size_t>(v.buffer) >= g_.buffers.size(),
                   InvalidArgument("%", id, " is in buffer ", v.buffer, " of ", g_.buffers.size()));
    const Buffer& b = g_.buffer_of(id);
    FIRN_RETURN_IF(!v.spec.device.is_cpu() || b.device != v.spec.device,
                   Unimplemented("%", id, " is on ", v.spec.device.ToString(), " in a buffer on ",
                                 b.device.ToString(), "; files call every device the CPU"));
    FIRN_RETURN_IF(v.spec.layout.blocked(),
                   InvalidArgument("%", id, " has its channels in blocks, which no file has"));
    int64_t begin, end;
    const bool inside = BytesOf(v, &begin, &end) && begin >= 0 && end <= b.bytes;
    FIRN_RETURN_IF(!inside, InvalidArgument("%", id, " ", v.spec.ToString(), " at ", v.offset,
                                            " reaches outside its ", b.bytes, " bytes"));
    FIRN_RETURN_IF(
        v.offset % SizeOf(v.spec.dtype) != 0,
        InvalidArgument("%", id, " ", v.spec.ToString(), " is not aligned at ", v.offset));
    const bool owned = b.kind == Buffer::Kind::kState || b.kind == Buffer::Kind::kConstant;
    FIRN_RETURN_IF(v.bound.defined() && !owned,
                   InvalidArgument("%", id, " has a tensor, but is no state and no constant"));
    if (v.bound.defined()) defined_[static_cast<size_t>(id)] = true;
    return CheckDType(v);
  }

  // A buffer has one dtype, so that elements stay what the checks saw.
  absl::Status CheckDType(const Value& v) {
    const auto buffer = static_cast<size_t>(v.buffer);
    dtypes_.resize(g_.buffers.size(), v.spec.dtype);
    if (!touched_[buffer]) dtypes_[buffer] = v.spec.dtype;
    touched_[buffer] = true;
    FIRN_RETURN_IF(dtypes_[buffer] != v.spec.dtype,
                   InvalidArgument("a buffer holds ", DTypeName(dtypes_[buffer]), " and ",
                                   DTypeName(v.spec.dtype)));
    return absl::OkStatus();
  }

  absl::Status CheckInputs() {
    touched_.assign(g_.buffers.size(), false);
    for (ValueId id : g_.inputs) {
      FIRN_RETURN_IF_ERROR(CheckId(id, "an input"));
      const auto buffer = static_cast<size_t>(g_.value(id).buffer);
      FIRN_RETURN_IF(
          input_of_[buffer] != kNoValue,
          InvalidArgument("two inputs in one buffer, %", input_of_[buffer], " and %", id));
      FIRN_RETURN_IF(!g_.value(id).spec.layout.contiguous,
                     InvalidArgument("input %", id, " is not contiguous"));
      input_of_[buffer] = id;
      defined_[static_cast<size_t>(id)] = true;
    }
    // The caller's memory is as large as the input, not as the buffer.
    for (const Value& v : g_.values) {
      const ValueId input = input_of_[static_cast<size_t>(v.buffer)];
      if (input == kNoValue || v.spec.num_elements() == 0) continue;
      int64_t begin, end, input_begin, input_end;
      BytesOf(v, &begin, &end);
      BytesOf(g_.value(input), &input_begin, &input_end);
      FIRN_RETURN_IF(begin < input_begin || end > input_end,
                     InvalidArgument("a view reaches outside input %", input));
    }
    return absl::OkStatus();
  }

  absl::Status CheckId(ValueId id, std::string_view what) const {
    FIRN_RETURN_IF(id < 0 || static_cast<size_t>(id) >= g_.values.size(),
                   InvalidArgument(what, " is value ", id, " of ", g_.values.size()));
    return absl::OkStatus();
  }

  absl::Status CheckDefined(ValueId id, std::string_view what) const {
    FIRN_RETURN_IF_ERROR(CheckId(id, what));
    FIRN_RETURN_IF(!defined_[static_cast<size_t>(id)],
                   InvalidArgument(what, " is %", id, ", which nothing gives a value"));
    return absl::OkStatus();
  }

  absl::Status CheckInstr(const Instr& instr) {
    const absl::Status status = CheckCall(instr);
    if (status.ok()) return status;
    const std::string where =
        instr.path == nullptr ? std::string() : absl::StrCat(" at ", *instr.path);
    return absl::Status(status.code(), absl::StrCat(std::string(instr.op->name), where, ": ",
                                                    std::string(status.message())));
  }

  absl::Status CheckCall(const Instr& instr) {
    for (ValueId id : instr.in) {
      if (id != kNoValue) FIRN_RETURN_IF_ERROR(CheckDefined(id, "an argument"));
    }
    FIRN_ASSIGN_OR_RETURN(const Inferred inferred, InferSpecs(g_, instr));
    FIRN_RETURN_IF(instr.out.size() != inferred.specs.size(),
                   InvalidArgument("gives ", inferred.specs.size(), " results, the graph has ",
                                   instr.out.size()));
    for (size_t i = 0; i < instr.out.size(); ++i) {
      FIRN_RETURN_IF_ERROR(CheckId(instr.out[i], "a result"));
      FIRN_RETURN_IF_ERROR(CheckResult(instr, inferred, i));
      defined_[static_cast<size_t>(instr.out[i])] = true;
    }
    return absl::OkStatus();
  }

  absl::Status CheckResult(const Instr& instr, const Inferred& inferred, size_t i) {
    const TensorSpec& want = inferred.specs[i];
    const Value& v = g_.value(instr.out[i]);
    // Attributes may name dtypes and devices that do not exist: compare before anything prints.
    FIRN_RETURN_IF(
        want.dtype != v.spec.dtype || want.device != v.spec.device || want.shape != v.spec.shape,
        InvalidArgument("does not give ", v.spec.ToString(), " as the graph has it"));
    if (instr.op->is_view) {
      const Value& base = g_.value(instr.in[0]);
      FIRN_RETURN_IF_ERROR(CheckView(base, inferred, v));
      if (base.buffer == v.buffer) return absl::OkStatus();
    }
    return CheckNew(*instr.op, v);
  }

  // A view of `base` must lie inside, at the place that its shape rule gives. The place of an empty
  // view does not matter.
  absl::Status CheckView(const Value& base, const Inferred& inferred, const Value& v) const {
    if (v.spec.num_elements() == 0) return absl::OkStatus();
    Value rule{base.buffer, 0, inferred.specs[0], {}};
    int64_t begin, end;
    const bool inside =
        !__builtin_mul_overflow(inferred.view_offset, SizeOf(base.spec.dtype), &rule.offset) &&
        !__builtin_add_overflow(rule.offset, base.offset, &rule.offset) &&
        BytesOf(rule, &begin, &end) && begin >= 0 &&
        end <= g_.buffers[static_cast<size_t>(base.buffer)].bytes;
    const bool there =
        base.buffer != v.buffer || (rule.offset == v.offset && SamePlaces(rule.spec, v.spec));
    FIRN_RETURN_IF(!inside || !there,
                   InvalidArgument("a view lies elsewhere than its shape rule says"));
    return absl::OkStatus();
  }

  static bool SamePlaces(const TensorSpec& a, const TensorSpec& b) {
    if (a.layout.contiguous && b.layout.contiguous) return true;
    for (int i = 0; i < a.shape.rank(); ++i) {
      if (a.shape[i] != 1 && a.layout.strides[i] != b.layout.strides[i]) return false;
    }
    return true;
  }

  // A result must have memory of its own. The result of a view whose argument the captured run
  // copied may lie anywhere in the copy.
  absl::Status CheckNew(const OpDef& op, const Value& v) {
    const auto buffer = static_cast<size_t>(v.buffer);
    FIRN_RETURN_IF(g_.buffers[buffer].kind != Buffer::Kind::kTemp || touched_[buffer],
                   InvalidArgument("a result is written over something else"));
    touched_[buffer] = true;
    if (op.is_view) return absl::OkStatus();
    const bool all = v.offset == 0 && v.spec.layout.contiguous &&
                     static_cast<int64_t>(v.spec.bytes()) == g_.buffers[buffer].bytes;
    FIRN_RETURN_IF(!all, InvalidArgument("a result does not fill its memory"));
    return absl::OkStatus();
  }

  const Graph& g_;
  std::vector<bool> defined_;      // values
  std::vector<bool> touched_;      // buffers
  std::vector<ValueId> input_of_;  // buffers
  std::vector<DType> dtypes_;      // buffers
};

}  // namespace

absl::Status CheckStorable(const Graph& graph) { return Checker(graph).Run(); }

}  // namespace firn::io
