// The structure is put together in memory; elements are streamed from the tensors where they are.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/internal/graph_archive.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/io/internal/crc32.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"

namespace firn::io {
namespace {

bool IsState(const Graph& graph, const Value& v) {
  return v.bound.defined() &&
         graph.buffers[static_cast<size_t>(v.buffer)].kind == Buffer::Kind::kState;
}

// The name of each state, "" of all else.
absl::StatusOr<std::vector<std::string>> NamesOf(const Graph& graph,
                                                 const SaveGraphOptions& options) {
  std::map<const char*, std::vector<const StateDict::Entry*>> by_place;
  for (const StateDict::Entry& e : options.names) {
    if (e.second.defined()) by_place[e.second.impl()->data].push_back(&e);
  }
  std::vector<std::string> names(graph.values.size());
  std::set<std::string> taken;
  for (size_t id = 0; id < names.size(); ++id) {
    const Value& v = graph.values[id];
    if (!IsState(graph, v)) continue;
    for (const StateDict::Entry* e : by_place[v.bound.impl()->data]) {
      const bool same = e->second.shape() == v.spec.shape && e->second.dtype() == v.spec.dtype;
      if (same && names[id].empty() && taken.insert(e->first).second) names[id] = e->first;
    }
  }
  int64_t unnamed = 0;
  for (size_t id = 0; id < names.size(); ++id) {
    const Value& v = graph.values[id];
    if (!IsState(graph, v)) continue;
    FIRN_RETURN_IF(!options.with_states && (names[id].empty() || !FillsBuffer(graph, v)),
                   FailedPrecondition("without its elements, a state ", v.spec.ToString(),
                                      names[id].empty() ? " must have a name" : " may be no view"));
    if (!names[id].empty()) continue;
    do {
      names[id] = absl::StrCat("unnamed.", unnamed++);
    } while (!taken.insert(names[id]).second);
  }
  return names;
}

internal::StoredValue Stored(const Value& v, const std::string& name) {
  internal::StoredValue stored;
  stored.buffer = v.buffer;
  stored.offset = v.offset;
  stored.dtype = DTypeName(v.spec.dtype);
  stored.shape.assign(v.spec.shape.begin(), v.spec.shape.end());
  if (!v.spec.layout.contiguous) {
    const absl::Span<const int64_t> strides = v.spec.layout.strides.span();
    stored.strides.assign(strides.begin(), strides.end());
  }
  stored.bound = v.bound.defined();
  stored.name = name;
  return stored;
}

// The number of a group of ranks means nothing in another process, but for 0, the world.
absl::Status CheckGroup(const internal::StoredInstr& instr, std::string_view path) {
  for (const internal::StoredAttr& a : instr.attrs) {
    const auto* const group = a.name == "group" ? std::get_if<int64_t>(&a.value) : nullptr;
    FIRN_RETURN_IF(
        group != nullptr && *group != 0,
        Unimplemented(instr.op, path.empty() ? "" : " at ", path, " is of group ", *group,
                      " of ranks, a number of this process alone; save graphs of the "
                      "world's collectives (group 0)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<internal::StoredInstr> Stored(const Instr& instr) {
  internal::StoredInstr stored;
  stored.op = std::string(instr.op->name);
  absl::StatusOr<std::vector<internal::StoredAttr>> attrs = internal::StoreAttrs(instr.attrs.ref());
  FIRN_RETURN_IF(!attrs.ok(),
                 InvalidArgument(stored.op, ": ", std::string(attrs.status().message())));
  stored.attrs = *std::move(attrs);
  if (instr.op->collective) FIRN_RETURN_IF_ERROR(CheckGroup(stored, instr.module_path()));
  stored.in.assign(instr.in.begin(), instr.in.end());
  stored.out.assign(instr.out.begin(), instr.out.end());
  stored.path = std::string(instr.module_path());
  stored.backward = instr.phase == Phase::kBackward;
  return stored;
}

absl::StatusOr<internal::StoredGraph> Stored(const Graph& graph,
                                             const std::vector<std::string>& names,
                                             bool with_states) {
  internal::StoredGraph stored;
  stored.with_states = with_states;
  for (const Buffer& b : graph.buffers) {
    const auto* kind = std::find(std::begin(kBufferKinds), std::end(kBufferKinds), b.kind);
    stored.buffers.push_back(
        {static_cast<uint8_t>(kind - std::begin(kBufferKinds)), b.bytes, b.device.ToString()});
  }
  for (size_t id = 0; id < names.size(); ++id) {
    stored.values.push_back(Stored(graph.values[id], names[id]));
  }
  for (const Instr& instr : graph.instrs) {
    FIRN_ASSIGN_OR_RETURN(stored.instrs.emplace_back(), Stored(instr));
  }
  stored.inputs = graph.inputs;
  stored.outputs = graph.outputs;
  stored.warnings = graph.warnings;
  return stored;
}

// Appends bytes that the CRC at the file's end covers.
class Output {
 public:
  explicit Output(firn::inner::internal::AtomicFile& file) : file_(file) {}
  absl::Status Write(const void* data, int64_t bytes) {
    crc_ = internal::Crc32(crc_, data, static_cast<size_t>(bytes));
    return file_.Write(data, static_cast<size_t>(bytes));
  }
  absl::Status Finish() {
    FIRN_RETURN_IF_ERROR(file_.Write(&crc_, sizeof(crc_)));
    return file_.Commit();
  }

 private:
  firn::inner::internal::AtomicFile& file_;
  uint32_t crc_ = 0;
};

// The bytes of a buffer, from the tensors that lie in it; bytes between them are zero.
absl::Status WriteElements(const Graph& graph, BufferId buffer, absl::Span<const ValueId> values,
                           Output& out) {
  const int64_t bytes = graph.buffers[static_cast<size_t>(buffer)].bytes;
  std::vector<char> image;
  for (ValueId id : values) {
    const Value& v = graph.value(id);
    const Tensor& t = v.bound;
    FIRN_RETURN_IF(IsPending(t) || t.dtype() != v.spec.dtype || t.shape() != v.spec.shape,
                   FailedPrecondition("a state of the graph was ", v.spec.ToString(), " and is ",
                                      t.spec().ToString(), " now; capture again"));
    FIRN_RETURN_IF_ERROR(firn::inner::CheckHostRead(t));
    if (FillsBuffer(graph, v) && SameDenseLayout(t.spec(), v.spec)) {
      return out.Write(t.impl()->data, bytes);
    }
    image.resize(static_cast<size_t>(bytes));
    CopyElementsOnCpu(t.spec(), t.impl()->data, v.spec, image.data() + v.offset);
  }
  return out.Write(image.data(), bytes);
}

absl::Status Write(const std::string& path, const Graph& graph, const SaveGraphOptions& options) {
  for (const GradientEffect& e : graph.gradients) {
    FIRN_RETURN_IF(
        e.found != kNoValue,
        FailedPrecondition("every run adds to the gradient that it finds in ", NameOfKept(e.leaf),
                           ", and a file knows no leaves; capture a"
                           " step that begins with ZeroGrad"));
  }
  const auto left = std::count_if(graph.gradients.begin(), graph.gradients.end(),
                                  [](const GradientEffect& e) { return e.value != kNoValue; });
  FIRN_RETURN_IF(left != 0 && !options.drop_gradients,
                 FailedPrecondition("every run leaves gradients in the grad() of ", left,
                                    " leaves, which a file cannot name; set drop_gradients, or"
                                    " return the gradients from the captured function"));
  for (const Instr& instr : graph.instrs) {
    FIRN_RETURN_IF(FindOp(instr.op->name) != instr.op,
                   Unimplemented(std::string(instr.op->name),
                                 " is an operation of compiled graphs; save what was captured"));
  }
  FIRN_RETURN_IF_ERROR(OneDeviceOf(graph).status());
  FIRN_ASSIGN_OR_RETURN(Graph portable, MakePortable(graph));
  FIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOf(portable, options));
  FIRN_RETURN_IF_ERROR(BringTensorsToHost(&portable));
  MoveGraph(Device::Cpu(), &portable);
  FIRN_RETURN_IF_ERROR(CheckStorable(portable));
  FIRN_RETURN_IF_ERROR(CheckInfo(options.info, portable));
  FIRN_ASSIGN_OR_RETURN(internal::StoredGraph to_store,
                        Stored(portable, names, options.with_states));
  to_store.info = options.info;
  to_store.version = VersionFor(to_store);
  const std::string structure = EncodeGraph(to_store);

  std::vector<BufferId> stored;
  GraphFileHeader header;
  for (size_t b = 0; b < portable.buffers.size(); ++b) {
    if (!HasElements(portable.buffers[b].kind, options.with_states)) continue;
    stored.push_back(static_cast<BufferId>(b));
    header.element_bytes += static_cast<uint64_t>(portable.buffers[b].bytes);
  }
  std::memcpy(header.magic, kGraphMagic, sizeof(header.magic));
  header.version = to_store.version;
  header.structure_bytes = structure.size();
  header.structure_crc = internal::Crc32(0, structure.data(), structure.size());

  FIRN_ASSIGN_OR_RETURN(firn::inner::internal::AtomicFile file,
                        firn::inner::internal::AtomicFile::Create(path));
  Output out(file);
  FIRN_RETURN_IF_ERROR(out.Write(&header, sizeof(header)));
  FIRN_RETURN_IF_ERROR(out.Write(structure.data(), static_cast<int64_t>(structure.size())));
  std::vector<std::vector<ValueId>> bound(portable.buffers.size());  // by buffer
  for (size_t id = 0; id < portable.values.size(); ++id) {
    const Value& v = portable.values[id];
    if (v.bound.defined()) bound[static_cast<size_t>(v.buffer)].push_back(static_cast<ValueId>(id));
  }
  for (BufferId buffer : stored) {
    FIRN_RETURN_IF_ERROR(WriteElements(portable, buffer, bound[static_cast<size_t>(buffer)], out));
  }
  return out.Finish();
}

}  // namespace

absl::Status TrySaveGraph(const std::string& path, const Graph& graph,
                          const SaveGraphOptions& options) {
  const absl::Status status = Write(path, graph, options);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("save ", path, ": ", std::string(status.message())));
}

absl::Status TrySaveGraph(const std::string& path, const StaticGraph& graph,
                          const SaveGraphOptions& options) {
  return TrySaveGraph(path, graph.captured(), options);
}

// The messages say "save <path>: ..." by themselves.
void SaveGraph(const std::string& path, const Graph& graph, const SaveGraphOptions& options) {
  RaiseIfError(TrySaveGraph(path, graph, options), "");
}

void SaveGraph(const std::string& path, const StaticGraph& graph, const SaveGraphOptions& options) {
  RaiseIfError(TrySaveGraph(path, graph, options), "");
}

}  // namespace firn::io
