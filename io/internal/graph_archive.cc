// Two cereal archives of our own, since cereal's trust what they read: they make a vector as long
// as the file says. Numbers are little-endian; lists and strings are a 32-bit count and what it
// counts; a bool is one byte, 0 or 1; names of fields are not written.
//
// The reader grows a list element by element, so that a false count ends with the bytes and not
// with the memory. It throws nothing: after the first error everything reads as zero, and lists
// stop.
#include "io/internal/graph_archive.h"

#include <bit>
#include <cereal/cereal.hpp>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "io/internal/random_access.h"

namespace firn::io::internal {
namespace {

static_assert(std::endian::native == std::endian::little);

class Writer : public cereal::OutputArchive<Writer, cereal::AllowEmptyClassElision> {
 public:
  Writer() : OutputArchive(this) {}
  void Append(const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); }
  std::string out;
};

class Reader : public cereal::InputArchive<Reader, cereal::AllowEmptyClassElision> {
 public:
  Reader(absl::string_view bytes, const std::string& file, int64_t offset)
      : InputArchive(this), bytes_(bytes), file_(file), offset_(offset) {}

  bool ok() const { return status_.ok(); }
  bool at_end() const { return at_ == bytes_.size(); }
  const absl::Status& status() const { return status_; }
  void set_field(const char* field) { field_ = field; }

  void Fail(const std::string& what) {
    if (ok()) status_ = Damaged(file_, offset_ + static_cast<int64_t>(at_), field_, what);
  }
  // False, and nothing read, when there is no more.
  bool Take(void* to, size_t n) {
    if (!ok() || n > bytes_.size() - at_) {
      Fail(absl::StrCat("expected ", n, " bytes, got ", bytes_.size() - at_,
                        ": the structure ends early"));
      return false;
    }
    std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
    return true;
  }
  // A count of things of which each takes a byte or more; 0 after an error.
  uint32_t TakeCount() {
    uint32_t count = 0;
    Take(&count, sizeof(count));
    if (count <= bytes_.size() - at_) return count;
    Fail(absl::StrCat("expected ", count, " of them, but only ", bytes_.size() - at_,
                      " bytes are left"));
    return 0;
  }

 private:
  const absl::string_view bytes_;
  const std::string& file_;
  const int64_t offset_;
  size_t at_ = 0;
  const char* field_ = "structure";
  absl::Status status_;
};

// --- Numbers, strings, lists ---------------------------------------------------------------------

template <class T>
requires(std::is_arithmetic_v<T>) void save(Writer& ar, const T& v) { ar.Append(&v, sizeof(v)); }
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) void load(Reader& ar, T& v) {
  v = 0;
  ar.Take(&v, sizeof(v));
}
void load(Reader& ar, bool& v) {
  uint8_t byte = 0;
  ar.Take(&byte, 1);
  if (byte > 1) ar.Fail(absl::StrCat("expected 0 or 1, got ", byte));
  v = byte == 1;
}

void SaveCount(Writer& ar, size_t n) { ar(static_cast<uint32_t>(n)); }

void save(Writer& ar, const std::string& s) {
  SaveCount(ar, s.size());
  ar.Append(s.data(), s.size());
}
void load(Reader& ar, std::string& s) {
  s.resize(ar.TakeCount());
  ar.Take(s.data(), s.size());
}

template <class T>
void save(Writer& ar, const std::vector<T>& list) {
  SaveCount(ar, list.size());
  for (const T& v : list) ar(v);
}
template <class T>
void load(Reader& ar, std::vector<T>& list) {
  list.clear();
  const uint32_t count = ar.TakeCount();
  for (uint32_t i = 0; i < count && ar.ok(); ++i) ar(list.emplace_back());
}

template <class T>
void save(Writer& ar, const cereal::NameValuePair<T>& field) {
  ar(field.value);
}
template <class T>
void load(Reader& ar, cereal::NameValuePair<T>& field) {
  ar.set_field(field.name);
  ar(field.value);
}

// An attribute's value: the number of its type, then the value.
void save(Writer& ar, const AttrValue& value) {
  ar(static_cast<uint8_t>(value.index()));
  std::visit([&ar](const auto& v) { ar(v); }, value);
}
template <size_t I>
void LoadAlternative(Reader& ar, uint8_t index, AttrValue& value) {
  if constexpr (I < std::variant_size_v<AttrValue>) {
    if (index == I) return ar(value.emplace<I>()), void();
    LoadAlternative<I + 1>(ar, index, value);
  } else {
    ar.Fail(absl::StrCat("attributes have no type ", index));
  }
}
void load(Reader& ar, AttrValue& value) {
  uint8_t index = 0;
  ar(index);
  LoadAlternative<0>(ar, index, value);
}

}  // namespace

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

std::string EncodeGraph(const StoredGraph& graph) {
  Writer writer;
  writer(graph);
  return std::move(writer.out);
}

absl::StatusOr<StoredGraph> DecodeGraph(absl::string_view bytes, const std::string& file,
                                        int64_t offset) {
  Reader reader(bytes, file, offset);
  StoredGraph graph;
  reader(graph);
  reader.set_field("structure");
  if (reader.ok() && !reader.at_end()) reader.Fail("expected its end, got more bytes");
  if (!reader.ok()) return reader.status();
  return graph;
}

}  // namespace firn::io::internal
