// Makes a graph from the file's structure. It is not trusted until CheckStorable has accepted it.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/parse_device.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"

namespace firn::io {
namespace {

absl::StatusOr<DType> DTypeNamed(const std::string& name) {
  const EnumWord* const found = WordList(kWordsOf<DType>).Find(name);
  FIRN_RETURN_IF(found == nullptr, InvalidArgument("there is no dtype '", name, "'"));
  return static_cast<DType>(found->value);
}

absl::StatusOr<Buffer> Restored(const internal::StoredBuffer& stored) {
  FIRN_RETURN_IF(stored.kind >= std::size(kBufferKinds),
                 InvalidArgument("there is no kind ", stored.kind, " of buffers"));
  FIRN_ASSIGN_OR_RETURN(const Device device, ParseDevice(stored.device));
  return Buffer{kBufferKinds[stored.kind], stored.bytes, device};
}

// This tensor stands for the later one.
absl::StatusOr<Value> Restored(const internal::StoredValue& stored, const Graph& graph) {
  FIRN_RETURN_IF(stored.buffer < 0 || static_cast<size_t>(stored.buffer) >= graph.buffers.size(),
                 InvalidArgument("is in buffer ", stored.buffer, " of ", graph.buffers.size()));
  const Buffer& buffer = graph.buffers[static_cast<size_t>(stored.buffer)];
  FIRN_ASSIGN_OR_RETURN(const DType dtype, DTypeNamed(stored.dtype));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(stored.shape));
  Value v{stored.buffer, stored.offset, TensorSpec::Contiguous(dtype, shape, buffer.device), {}};
  if (!stored.strides.empty()) {
    FIRN_RETURN_IF(
        stored.strides.size() != stored.shape.size(),
        InvalidArgument("has ", stored.strides.size(), " strides for shape ", shape.ToString()));
    Dims strides(shape.rank());
    std::copy(stored.strides.begin(), stored.strides.end(), strides.d);
    v.spec = TensorSpec::Strided(dtype, shape, buffer.device, strides);
  }
  FIRN_RETURN_IF(!stored.name.empty() && !stored.bound,
                 InvalidArgument("is named ", stored.name, " but has no tensor"));
  if (stored.bound) v.bound = WrapStorage(nullptr, nullptr, v.spec);
  return v;
}

// "%5 = pad at encoder": the first result, as graphs are printed, and the module.
std::string Described(const internal::StoredInstr& stored) {
  const std::string result = stored.out.empty() ? "" : absl::StrCat("%", stored.out[0], " = ");
  return absl::StrCat(result, stored.op, stored.path.empty() ? "" : " at ", stored.path);
}

absl::StatusOr<Instr> Restored(const internal::StoredInstr& stored) {
  Instr instr;
  instr.op = FindOp(stored.op);
  if (instr.op == nullptr) {
    const absl::Status why = WhyNoOp(stored.op);
    if (!absl::IsNotFound(why)) return why;
    return NotFound(std::string(why.message()),
                    " (//:run_graph links all that Firn's graphs are made of)");
  }
  absl::StatusOr<Attrs> attrs = internal::RestoreAttrs(instr.op->attrs, stored.attrs);
  FIRN_RETURN_IF(!attrs.ok(),
                 InvalidArgument(Described(stored), ": ", std::string(attrs.status().message())));
  instr.attrs = *std::move(attrs);
  instr.in.assign(stored.in.begin(), stored.in.end());
  // Optional arguments that the operation got after the file was written.
  while (!instr.op->variadic() && instr.in.size() < instr.op->inputs.size() &&
         instr.op->inputs[instr.in.size()].optional) {
    instr.in.push_back(kNoValue);
  }
  instr.out.assign(stored.out.begin(), stored.out.end());
  instr.phase = stored.backward ? Phase::kBackward : Phase::kForward;
  return instr;
}

}  // namespace

absl::StatusOr<Graph> RestoreGraph(const internal::StoredGraph& stored) {
  Graph graph;
  for (const auto& b : stored.buffers) {
    FIRN_ASSIGN_OR_RETURN(graph.buffers.emplace_back(), Restored(b));
  }
  for (const auto& v : stored.values) {
    absl::StatusOr<Value> value = Restored(v, graph);
    FIRN_RETURN_IF(!value.ok(), InvalidArgument("%", graph.values.size(), " ",
                                                std::string(value.status().message())));
    graph.values.push_back(*std::move(value));
  }
  for (const auto& i : stored.instrs) {
    FIRN_ASSIGN_OR_RETURN(graph.instrs.emplace_back(), Restored(i));
  }
  graph.inputs = stored.inputs;
  graph.outputs = stored.outputs;
  graph.warnings = stored.warnings;
  FIRN_RETURN_IF_ERROR(CheckStorable(graph));
  // Interned strings are never freed, so only those of a graph that will be used are interned.
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    const std::string& path = stored.instrs[i].path;
    if (!path.empty()) graph.instrs[i].path = PathScope::Intern(path);
  }
  return graph;
}

}  // namespace firn::io
