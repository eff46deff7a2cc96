// Reading goes from the outside in: sizes, magic and version, the structure's checksum, the
// structure, the limits, the graph with tensors that have no elements yet, CheckStorable. Only then
// memory is taken, and elements are read into it; the checksum at the end is checked last.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/internal/graph_archive.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/random_access.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::StoredGraph;

// --- From the outside in -------------------------------------------------------------------------

absl::StatusOr<GraphFileHeader> ReadHeader(const RandomAccess& file, const LoadLimits& limits) {
  GraphFileHeader header;
  FIRN_RETURN_IF_ERROR(ExpectSignature(file, {kGraphMagic, sizeof(header.magic)}, "a graph file"));
  FIRN_RETURN_IF_ERROR(file.ReadAt(8, &header.version, sizeof(header.version), "version"));
  FIRN_RETURN_IF(header.version > kGraphVersion,
                 Unimplemented(file.name(), ": a graph file of version ", header.version,
                               ", of a later Firn; this one reads up to version ", kGraphVersion));
  FIRN_RETURN_IF(header.version == 0,
                 Damaged(file.name(), 8, "version", "expected 1, 2 or 3, got 0"));
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, &header, sizeof(header), "header"));
  const auto limit = [&](uint64_t bytes, int64_t allowed, const char* what, const char* option) {
    return bytes <= static_cast<uint64_t>(std::max<int64_t>(allowed, 0))
               ? absl::OkStatus()
               : ResourceExhausted(file.name(), ": ", bytes, " bytes of ", what, ", more than the ",
                                   allowed, " allowed (limits.", option, ")");
  };
  // Each fits in the file, so that their sum cannot overflow.
  const auto size = static_cast<uint64_t>(file.size());
  const uint64_t rest = size - sizeof(header);
  const bool fits = header.structure_bytes <= rest && header.element_bytes <= rest &&
                    header.structure_bytes + header.element_bytes + sizeof(uint32_t) == rest;
  FIRN_RETURN_IF(!fits, Damaged(file.name(), 16, "sizes",
                                absl::StrCat("a file of ", size, " bytes cannot have ",
                                             header.structure_bytes, " bytes of structure and ",
                                             header.element_bytes, " of elements")));
  FIRN_RETURN_IF_ERROR(
      limit(header.structure_bytes, limits.max_metadata_bytes, "structure", "max_metadata_bytes"));
  FIRN_RETURN_IF_ERROR(
      limit(header.element_bytes, limits.max_total_bytes, "elements", "max_total_bytes"));
  return header;
}

// `too_many` and `name_fits` are those of CheckLimits.
template <class TooMany, class NameFits>
absl::Status CheckInfoLimits(const GraphInfo& info, const LoadLimits& limits,
                             const TooMany& too_many, const NameFits& name_fits) {
  const auto all_fit = [&](const std::vector<std::string>& names, const char* what) {
    FIRN_RETURN_IF_ERROR(too_many(names.size(), limits.max_tensors, what, "limits.max_tensors"));
    for (const std::string& name : names) FIRN_RETURN_IF_ERROR(name_fits(name));
    return absl::OkStatus();
  };
  FIRN_RETURN_IF_ERROR(all_fit(info.classes, "classes"));
  FIRN_RETURN_IF_ERROR(all_fit(info.missing_words, "missing words"));
  FIRN_RETURN_IF_ERROR(
      too_many(info.columns.size(), limits.max_tensors, "columns", "limits.max_tensors"));
  for (const GraphColumn& column : info.columns) {
    FIRN_RETURN_IF_ERROR(name_fits(column.name));
    FIRN_RETURN_IF_ERROR(all_fit(column.words, "words of a column"));
  }
  return info.target.has_value() ? name_fits(info.target->name) : absl::OkStatus();
}

absl::Status CheckLimits(const StoredGraph& stored, const std::string& file,
                         const LoadGraphOptions& options) {
  const auto too_many = [&](size_t count, int64_t allowed, const char* what, const char* option) {
    return count <= static_cast<size_t>(std::max<int64_t>(allowed, 0))
               ? absl::OkStatus()
               : ResourceExhausted(file, ": ", count, " ", what, ", more than the ", allowed,
                                   " allowed (", option, ")");
  };
  FIRN_RETURN_IF_ERROR(
      too_many(stored.instrs.size(), options.max_operations, "operations", "max_operations"));
  FIRN_RETURN_IF_ERROR(
      too_many(stored.values.size(), options.limits.max_tensors, "values", "limits.max_tensors"));
  FIRN_RETURN_IF_ERROR(
      too_many(stored.buffers.size(), options.limits.max_tensors, "buffers", "limits.max_tensors"));
  int64_t left = options.limits.max_total_bytes;
  for (const internal::StoredBuffer& b : stored.buffers) {
    FIRN_RETURN_IF(b.bytes < 0, DataLoss(file, ": a buffer of ", b.bytes, " bytes"));
    FIRN_RETURN_IF(b.bytes > left, ResourceExhausted(file, ": its values take more than the ",
                                                     options.limits.max_total_bytes,
                                                     " bytes allowed (limits.max_total_bytes)"));
    left -= b.bytes;
  }
  // Also of each value by itself: views may have more elements than there is memory, and kernels
  // may want them spread out.
  for (const internal::StoredValue& v : stored.values) {
    double elements = 1;
    for (int64_t size : v.shape) elements *= static_cast<double>(size);
    FIRN_RETURN_IF(elements > static_cast<double>(options.limits.max_total_bytes),
                   ResourceExhausted(file, ": a value of ", elements, " elements, more than the ",
                                     options.limits.max_total_bytes,
                                     " bytes allowed (limits.max_total_bytes)"));
  }
  const auto name_fits = [&](const std::string& name) {
    return too_many(name.size(), options.limits.max_name_bytes, "bytes in a name",
                    "limits.max_name_bytes");
  };
  FIRN_RETURN_IF_ERROR(CheckInfoLimits(stored.info, options.limits, too_many, name_fits));
  for (const auto& v : stored.values) FIRN_RETURN_IF_ERROR(name_fits(v.name));
  for (const auto& i : stored.instrs) {
    FIRN_RETURN_IF_ERROR(name_fits(i.op));
    FIRN_RETURN_IF_ERROR(name_fits(i.path));
    for (const internal::StoredAttr& a : i.attrs) {
      const auto* const word = std::get_if<internal::StoredWord>(&a.value);
      if (word != nullptr) FIRN_RETURN_IF_ERROR(name_fits(word->text));
    }
  }
  return absl::OkStatus();
}

// The part of the file before the elements, and its graph, whose tensors have no elements yet.
struct Structure {
  GraphFileHeader header;
  StoredGraph stored;
  Graph graph;
  uint32_t crc = 0;  // of these bytes
};

absl::StatusOr<Structure> ReadStructure(const RandomAccess& file, const LoadGraphOptions& options) {
  const std::string& path = file.name();
  Structure s;
  FIRN_ASSIGN_OR_RETURN(s.header, ReadHeader(file, options.limits));
  const auto begin = static_cast<int64_t>(sizeof(s.header));
  std::string bytes(static_cast<size_t>(s.header.structure_bytes), '\0');
  FIRN_RETURN_IF_ERROR(
      file.ReadAt(begin, bytes.data(), static_cast<int64_t>(bytes.size()), "structure"));
  FIRN_RETURN_IF(internal::Crc32(0, bytes.data(), bytes.size()) != s.header.structure_crc,
                 Damaged(path, begin, "structure", "its checksum does not match: it is damaged"));
  FIRN_ASSIGN_OR_RETURN(s.stored, internal::DecodeGraph(bytes, path, begin, s.header.version));
  FIRN_RETURN_IF_ERROR(CheckLimits(s.stored, path, options));

  absl::StatusOr<Graph> graph = RestoreGraph(s.stored);
  const absl::Status status = graph.ok() ? CheckInfo(s.stored.info, *graph) : graph.status();
  if (!status.ok()) {
    const absl::StatusCode code = status.code();
    const bool damaged =
        code != absl::StatusCode::kNotFound && code != absl::StatusCode::kUnimplemented;
    return absl::Status(damaged ? absl::StatusCode::kDataLoss : code,
                        absl::StrCat(path, ": ", std::string(status.message())));
  }
  s.graph = *std::move(graph);
  s.crc =
      internal::Crc32(internal::Crc32(0, &s.header, sizeof(s.header)), bytes.data(), bytes.size());
  return s;
}

// --- States and elements -------------------------------------------------------------------------

// Gives a graph its tensors: the caller's, and those that are read from the file.
class Binder {
 public:
  Binder(const RandomAccess& file, const StoredGraph& stored, const LoadGraphOptions& options,
         Graph* graph)
      : file_(file),
        stored_(stored),
        options_(options),
        g_(*graph),
        places_(graph->buffers.size()),
        given_(graph->buffers.size()),
        bools_(graph->buffers.size(), false) {
    for (const Value& v : g_.values) {  // all values of a buffer have one dtype
      bools_[static_cast<size_t>(v.buffer)] = v.spec.dtype == DType::kBool;
    }
  }

  // `at` and `crc`: where elements begin, and of everything before.
  absl::StatusOr<StateDict> Run(int64_t at, uint32_t crc) {
    FIRN_RETURN_IF_ERROR(TakeGiven());
    for (size_t b = 0; b < places_.size(); ++b) {
      FIRN_RETURN_IF_ERROR(Read(b, &at, &crc));
    }
    uint32_t want = 0;
    FIRN_RETURN_IF_ERROR(file_.ReadAt(at, &want, sizeof(want), "checksum"));
    FIRN_RETURN_IF(want != crc,
                   Damaged(file_.name(), at, "checksum", "does not match: the file is damaged"));
    return Bind();
  }

 private:
  Buffer::Kind KindOf(size_t b) const { return g_.buffers[b].kind; }

  absl::Status TakeGiven() {
    for (size_t id = 0; id < g_.values.size(); ++id) {
      const std::string& name = stored_.values[id].name;
      Value& v = g_.values[id];
      const auto b = static_cast<size_t>(v.buffer);
      if (name.empty()) continue;
      FIRN_RETURN_IF(KindOf(b) != Buffer::Kind::kState,
                     DataLoss(file_.name(), ": '", name, "' is no state"));
      const Tensor* t = options_.states.Find(name);
      if (t == nullptr) continue;
      FIRN_RETURN_IF(!FillsBuffer(g_, v),
                     FailedPrecondition(file_.name(), ": state '", name, "' is a view"));
      const bool fits = t->defined() && t->impl()->storage && t->dtype() == v.spec.dtype &&
                        t->shape() == v.spec.shape && t->device() == v.spec.device &&
                        t->is_contiguous();
      FIRN_RETURN_IF(!fits, FailedPrecondition(file_.name(), ": state '", name, "' is ",
                                               v.spec.ToString(), ", the tensor given for it is ",
                                               t->defined() ? t->spec().ToString() : "undefined"));
      const auto [other, fresh] = buffer_of_given_.emplace(t->impl()->storage.get(), b);
      FIRN_RETURN_IF(!fresh && other->second != b,
                     InvalidArgument(file_.name(), ": the tensor given for state '", name,
                                     "' shares memory with another"));
      given_[b] = *t;
    }
    return absl::OkStatus();
  }

  // Elements of buffer `b`, if the file has them. They are read, for the checksum, even where the
  // caller's tensor is used.
  absl::Status Read(size_t b, int64_t* at, uint32_t* crc) {
    const Buffer& buffer = g_.buffers[b];
    const bool owned =
        buffer.kind == Buffer::Kind::kState || buffer.kind == Buffer::Kind::kConstant;
    if (!owned) return absl::OkStatus();
    if (!HasElements(buffer.kind, stored_.with_states)) {
      FIRN_RETURN_IF(!given_[b].defined(),
                     FailedPrecondition(file_.name(), ": holds no elements of state '", NameIn(b),
                                        "'; give a tensor for it"));
      return absl::OkStatus();
    }
    const auto bytes = static_cast<size_t>(buffer.bytes);
    FIRN_ASSIGN_OR_RETURN(places_[b],
                          Storage::Allocate(bytes, buffer.device, AllocTag::kParameter));
    std::vector<char> image(buffer.device.is_cpu() ? 0 : bytes);
    void* const data = buffer.device.is_cpu() ? places_[b]->data() : image.data();
    FIRN_RETURN_IF_ERROR(file_.ReadAt(*at, data, buffer.bytes, "elements"));
    *crc = internal::Crc32(*crc, data, bytes);
    if (bools_[b]) {
      const absl::Status bools = internal::ConvertStored({.dtype = DType::kBool, .bytes = 1},
                                                         buffer.bytes, static_cast<char*>(data));
      FIRN_RETURN_IF(!bools.ok(),
                     Damaged(file_.name(), *at, "elements", std::string(bools.message())));
    }
    if (!buffer.device.is_cpu()) {
      FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(buffer.device));
      FIRN_RETURN_IF_ERROR(context->CopyFromHost(places_[b]->data(), data, bytes));
    }
    *at += buffer.bytes;
    return absl::OkStatus();
  }

  const std::string& NameIn(size_t b) const {
    static const std::string none = "?";
    for (size_t id = 0; id < g_.values.size(); ++id) {
      const std::string& name = stored_.values[id].name;
      if (static_cast<size_t>(g_.values[id].buffer) == b && !name.empty()) return name;
    }
    return none;
  }

  absl::StatusOr<StateDict> Bind() {
    StateDict states;
    for (size_t id = 0; id < g_.values.size(); ++id) {
      Value& v = g_.values[id];
      if (!v.bound.defined()) continue;
      const auto b = static_cast<size_t>(v.buffer);
      const std::string& name = stored_.values[id].name;
      if (const Tensor& given = given_[b]; !given.defined()) {
        v.bound =
            WrapStorage(places_[b], static_cast<char*>(places_[b]->data()) + v.offset, v.spec);
      } else if (!name.empty() && options_.states.Contains(name)) {
        v.bound = given;
      } else {
        v.bound = WrapStorage(given.impl()->storage, given.impl()->data + v.offset, v.spec);
      }
      if (name.empty()) continue;
      FIRN_RETURN_IF(states.Contains(name),
                     DataLoss(file_.name(), ": two states are named '", name, "'"));
      states.Insert(name, v.bound);
    }
    return states;
  }

  const RandomAccess& file_;
  const StoredGraph& stored_;
  const LoadGraphOptions& options_;
  Graph& g_;
  std::vector<IntrusivePtr<Storage>> places_;  // by buffer
  std::vector<Tensor> given_;                  // by buffer
  absl::flat_hash_map<const Storage*, size_t> buffer_of_given_;
  std::vector<bool> bools_;  // by buffer
};

}  // namespace

absl::StatusOr<GraphFile> TryReadGraph(const std::string& path, const LoadGraphOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  return TryReadGraph(*file, options);
}

absl::StatusOr<GraphFile> TryReadGraph(const RandomAccess& file, const LoadGraphOptions& options) {
  FIRN_ASSIGN_OR_RETURN(Structure s, ReadStructure(file, options));
  uint64_t elements = 0;
  for (const Buffer& b : s.graph.buffers) {
    if (HasElements(b.kind, s.stored.with_states)) elements += static_cast<uint64_t>(b.bytes);
  }
  FIRN_RETURN_IF(elements != s.header.element_bytes,
                 Damaged(file.name(), 24, "element bytes",
                         absl::StrCat("expected ", elements, ", got ", s.header.element_bytes)));
  if (!options.device.is_cpu()) {
    FIRN_RETURN_IF_ERROR(GetDeviceContext(options.device).status());
    MoveGraph(options.device, &s.graph);
  }
  Binder binder(file, s.stored, options, &s.graph);
  FIRN_ASSIGN_OR_RETURN(
      StateDict states,
      binder.Run(static_cast<int64_t>(sizeof(s.header) + s.header.structure_bytes), s.crc));
  return GraphFile{std::move(s.graph), std::move(states), std::move(s.stored.info)};
}

absl::StatusOr<GraphInfo> TryLoadGraphInfo(const std::string& path,
                                           const LoadGraphOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  FIRN_ASSIGN_OR_RETURN(Structure structure, ReadStructure(*file, options));
  return std::move(structure.stored.info);
}

GraphFile ReadGraph(const std::string& path, const LoadGraphOptions& options) {
  absl::StatusOr<GraphFile> file = TryReadGraph(path, options);
  RaiseIfError(file.status(), "read graph");
  return *std::move(file);
}

absl::StatusOr<StaticGraph> TryLoadGraph(const std::string& path, const LoadGraphOptions& options) {
  FIRN_ASSIGN_OR_RETURN(GraphFile file, TryReadGraph(path, options));
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(
      std::move(file.graph), {.max_arena_bytes = options.limits.max_total_bytes});
  if (graph.ok()) return graph;
  return absl::Status(graph.status().code(),
                      absl::StrCat(path, ": ", std::string(graph.status().message())));
}

StaticGraph LoadGraph(const std::string& path, const LoadGraphOptions& options) {
  absl::StatusOr<StaticGraph> graph = TryLoadGraph(path, options);
  RaiseIfError(graph.status(), "load graph");
  return *std::move(graph);
}

GraphInfo LoadGraphInfo(const std::string& path, const LoadGraphOptions& options) {
  absl::StatusOr<GraphInfo> info = TryLoadGraphInfo(path, options);
  RaiseIfError(info.status(), "load graph info");
  return *std::move(info);
}

}  // namespace firn::io
