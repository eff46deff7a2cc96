#ifndef FIRN_IO_INTERNAL_STRUCT_ARCHIVE_H_
#define FIRN_IO_INTERNAL_STRUCT_ARCHIVE_H_

// Two cereal archives of our own, since cereal's trust the file: they make a vector as long as it
// says. Numbers are little-endian; lists and strings are a 32-bit count and that many items; a bool
// is one byte, 0 or 1; names of fields are not written. A struct brings
//
//   template <class Archive> void serialize(Archive& ar, Stored& s) { ar(cereal::make_nvp(...)); }
//
// The reader grows a list element by element, so that a false count runs out of bytes before it
// takes memory. It throws nothing: after the first error everything reads as zero, and lists stop.

#include <bit>
#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

static_assert(std::endian::native == std::endian::little);

class ArchiveWriter : public cereal::OutputArchive<ArchiveWriter, cereal::AllowEmptyClassElision> {
 public:
  ArchiveWriter() : OutputArchive(this) {}
  void Append(const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); }
  std::string out;
};

class ArchiveReader : public cereal::InputArchive<ArchiveReader, cereal::AllowEmptyClassElision> {
 public:
  ArchiveReader(absl::string_view bytes, const std::string& file, int64_t offset)
      : InputArchive(this), bytes_(bytes), file_(file), offset_(offset) {}

  bool ok() const { return status_.ok(); }
  bool at_end() const { return at_ == bytes_.size(); }
  const absl::Status& status() const { return status_; }
  void set_field(const char* field) { field_ = field; }

  void Fail(const std::string& what) {
    if (ok()) status_ = Damaged(file_, offset_ + static_cast<int64_t>(at_), field_, what);
  }
  // Returns false and reads nothing if there are no more bytes.
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
  const std::string file_;
  const int64_t offset_;
  size_t at_ = 0;
  const char* field_ = "structure";
  absl::Status status_;
};

// --- Numbers, strings, lists ---------------------------------------------------------------------

template <class T>
requires(std::is_arithmetic_v<T>) void save(ArchiveWriter& ar, const T& v) {
  ar.Append(&v, sizeof(v));
}
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) void load(ArchiveReader& ar, T& v) {
  v = 0;
  ar.Take(&v, sizeof(v));
}
inline void load(ArchiveReader& ar, bool& v) {
  uint8_t byte = 0;
  ar.Take(&byte, 1);
  if (byte > 1) ar.Fail(absl::StrCat("expected 0 or 1, got ", byte));
  v = byte == 1;
}

inline void SaveCount(ArchiveWriter& ar, size_t n) { ar(static_cast<uint32_t>(n)); }

inline void save(ArchiveWriter& ar, const std::string& s) {
  SaveCount(ar, s.size());
  ar.Append(s.data(), s.size());
}
inline void load(ArchiveReader& ar, std::string& s) {
  s.resize(ar.TakeCount());
  ar.Take(s.data(), s.size());
}

template <class T>
void save(ArchiveWriter& ar, const std::vector<T>& list) {
  SaveCount(ar, list.size());
  for (const T& v : list) ar(v);
}
template <class T>
void load(ArchiveReader& ar, std::vector<T>& list) {
  list.clear();
  const uint32_t count = ar.TakeCount();
  for (uint32_t i = 0; i < count && ar.ok(); ++i) ar(list.emplace_back());
}

template <class T>
void save(ArchiveWriter& ar, const cereal::NameValuePair<T>& field) {
  ar(field.value);
}
template <class T>
void load(ArchiveReader& ar, cereal::NameValuePair<T>& field) {
  ar.set_field(field.name);
  ar(field.value);
}

template <class T>
std::string EncodeStruct(const T& value) {
  ArchiveWriter writer;
  writer(value);
  return std::move(writer.out);
}

// `file` and `offset`, where `bytes` stand in it, are for messages; `value` already has the members
// that its serialize checks before it reads. Errors: DataLoss for bytes that no EncodeStruct<T>
// makes.
template <class T>
absl::StatusOr<T> DecodeStruct(absl::string_view bytes, const std::string& file, int64_t offset,
                               T value = {}) {
  ArchiveReader reader(bytes, file, offset);
  reader(value);
  reader.set_field("structure");
  if (reader.ok() && !reader.at_end()) reader.Fail("expected its end, got more bytes");
  if (!reader.ok()) return reader.status();
  return value;
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_STRUCT_ARCHIVE_H_
