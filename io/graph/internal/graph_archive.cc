// The fields of a graph's structs; struct_archive.h reads and writes them.
#include "firn/io/graph/internal/graph_archive.h"

#include <cereal/cereal.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "firn/io/internal/struct_archive.h"

namespace firn::io::internal {

// The form in which a value is written: itself, or a word's text.
template <class T>
static T& Written(T& value) {
  return value;
}
static std::string& Written(StoredWord& word) { return word.text; }
static const std::string& Written(const StoredWord& word) { return word.text; }

// An attribute's value: the number of its type, then the value. Found through the archive's type.
static void save(ArchiveWriter& ar, const AttrValue& value) {
  ar(static_cast<uint8_t>(value.index()));
  std::visit([&ar](const auto& v) { ar(Written(v)); }, value);
}
template <size_t I>
static void LoadAlternative(ArchiveReader& ar, uint8_t index, AttrValue& value) {
  if constexpr (I < std::variant_size_v<AttrValue>) {
    if (index == I) return ar(Written(value.emplace<I>())), void();
    LoadAlternative<I + 1>(ar, index, value);
  } else {
    ar.Fail(absl::StrCat("attributes have no type ", index));
  }
}
static void load(ArchiveReader& ar, AttrValue& value) {
  uint8_t index = 0;
  ar(index);
  LoadAlternative<0>(ar, index, value);
}

// An optional value: a flag, then the value if it is set.
template <class T>
static void save(ArchiveWriter& ar, const std::optional<T>& value) {
  ar(value.has_value());
  if (value.has_value()) ar(*value);
}
template <class T>
static void load(ArchiveReader& ar, std::optional<T>& value) {
  bool there = false;
  ar(there);
  value.reset();
  if (there) ar(value.emplace());
}

// --- The structs, for both ways. The order is the format -----------------------------------------

template <class Archive>
void serialize(Archive& ar, StoredAttr& a) {
  ar(cereal::make_nvp("attribute name", a.name), cereal::make_nvp("attribute", a.value));
}

template <class Archive>
void serialize(Archive& ar, StoredBuffer& b) {
  ar(cereal::make_nvp("buffer kind", b.kind), cereal::make_nvp("buffer bytes", b.bytes),
     cereal::make_nvp("device", b.device));
}

template <class Archive>
void serialize(Archive& ar, StoredValue& v) {
  ar(cereal::make_nvp("buffer", v.buffer), cereal::make_nvp("offset", v.offset),
     cereal::make_nvp("dtype", v.dtype), cereal::make_nvp("shape", v.shape),
     cereal::make_nvp("strides", v.strides), cereal::make_nvp("bound", v.bound),
     cereal::make_nvp("state name", v.name));
}

template <class Archive>
void serialize(Archive& ar, StoredInstr& i) {
  ar(cereal::make_nvp("operation", i.op), cereal::make_nvp("attributes", i.attrs),
     cereal::make_nvp("arguments", i.in), cereal::make_nvp("results", i.out),
     cereal::make_nvp("module path", i.path), cereal::make_nvp("phase", i.backward));
}

template <class Archive>
void serialize(Archive& ar, GraphColumn& c) {
  ar(cereal::make_nvp("column name", c.name), cereal::make_nvp("column place", c.place),
     cereal::make_nvp("column words", c.words));
}

template <class Archive>
void serialize(Archive& ar, GraphInfo& i) {
  ar(cereal::make_nvp("pixel scale", i.pixel_scale), cereal::make_nvp("scale", i.scale),
     cereal::make_nvp("mean", i.mean), cereal::make_nvp("deviation", i.stddev),
     cereal::make_nvp("columns", i.columns), cereal::make_nvp("target", i.target),
     cereal::make_nvp("missing", i.missing), cereal::make_nvp("missing words", i.missing_words),
     cereal::make_nvp("classes", i.classes), cereal::make_nvp("probabilities", i.probabilities));
}

template <class Archive>
void serialize(Archive& ar, StoredGraph& g) {
  ar(cereal::make_nvp("with states", g.with_states), cereal::make_nvp("buffers", g.buffers),
     cereal::make_nvp("values", g.values), cereal::make_nvp("operations", g.instrs),
     cereal::make_nvp("inputs", g.inputs), cereal::make_nvp("outputs", g.outputs),
     cereal::make_nvp("warnings", g.warnings));
  if (g.version >= 2) ar(cereal::make_nvp("info", g.info));
}

uint32_t VersionFor(const StoredGraph& graph) {
  for (const StoredInstr& instr : graph.instrs) {
    for (const StoredAttr& attr : instr.attrs) {
      if (std::holds_alternative<StoredWord>(attr.value)) return 3;
    }
  }
  return graph.info == GraphInfo() ? 1 : 2;
}

std::string EncodeGraph(const StoredGraph& graph) { return EncodeStruct(graph); }

absl::StatusOr<StoredGraph> DecodeGraph(absl::string_view bytes, const std::string& file,
                                        int64_t offset, uint32_t version) {
  StoredGraph graph;
  graph.version = version;
  return DecodeStruct<StoredGraph>(bytes, file, offset, std::move(graph));
}

}  // namespace firn::io::internal
