// How a graph's structs are written; struct_archive.h is what reads and writes them.
#include "firn/io/internal/graph_archive.h"

#include <cereal/cereal.hpp>
#include <variant>

#include "absl/strings/str_cat.h"
#include "firn/io/internal/struct_archive.h"

namespace firn::io::internal {

// An attribute's value: the number of its type, then the value. Found through the archive's type.
static void save(ArchiveWriter& ar, const AttrValue& value) {
  ar(static_cast<uint8_t>(value.index()));
  std::visit([&ar](const auto& v) { ar(v); }, value);
}
template <size_t I>
static void LoadAlternative(ArchiveReader& ar, uint8_t index, AttrValue& value) {
  if constexpr (I < std::variant_size_v<AttrValue>) {
    if (index == I) return ar(value.emplace<I>()), void();
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
void serialize(Archive& ar, StoredGraph& g) {
  ar(cereal::make_nvp("with states", g.with_states), cereal::make_nvp("buffers", g.buffers),
     cereal::make_nvp("values", g.values), cereal::make_nvp("operations", g.instrs),
     cereal::make_nvp("inputs", g.inputs), cereal::make_nvp("outputs", g.outputs),
     cereal::make_nvp("warnings", g.warnings));
}

std::string EncodeGraph(const StoredGraph& graph) { return EncodeStruct(graph); }

absl::StatusOr<StoredGraph> DecodeGraph(absl::string_view bytes, const std::string& file,
                                        int64_t offset) {
  return DecodeStruct<StoredGraph>(bytes, file, offset);
}

}  // namespace firn::io::internal
