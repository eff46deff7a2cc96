#include "firn/io/safetensors/internal/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/json/internal/json_events.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

constexpr int64_t kFirst = 8;                // bytes that tell the header's length
constexpr int64_t kMaxHeader = 100'000'000;  // the reference's limit

constexpr SafetensorsType kTypes[] = {
    {"F32", 32},    {"F16", 16},        {"BF16", 16}, {"F64", 64},    {"I64", 64},
    {"I32", 32},    {"I8", 8},          {"U8", 8},    {"BOOL", 8},    {"I16", 16},
    {"U16", 16},    {"U32", 32},        {"U64", 64},  {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"C64", 64},  {"F4", 4},      {"F6_E2M3", 6},
    {"F6_E3M2", 6}, {"F8_E5M2FNUZ", 8},
};

// Bytes of elements of the type; nothing if they are not a whole number of bytes or too many.
std::optional<int64_t> BytesOf(const SafetensorsType& type, const std::vector<int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bits = type.bits;
  for (const int64_t size : shape) {
    if (bits > std::numeric_limits<int64_t>::max() / size) return std::nullopt;
    bits *= size;
  }
  if (bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

// Goes through the header: an object of objects, one of them of words.
class Reader final : public JsonEvents {
 public:
  Reader(const LoadLimits& limits, SafetensorsHeader* header) : limits_(limits), header_(header) {}

  absl::Status BeginObject() override {
    if (skipped_ > 0) return Skip(1);
    switch (place_) {
      case Place::kStart:
        place_ = Place::kTop;
        return absl::OkStatus();
      case Place::kNamed:
        if (key_ == "__metadata__") {
          FIRN_RETURN_IF(std::exchange(has_metadata_, true),
                         DataLoss("expected one __metadata__, got two"));
          place_ = Place::kMetadata;
          return absl::OkStatus();
        }
        place_ = Place::kEntry;
        return BeginEntry();
      case Place::kField:
        FIRN_RETURN_IF(IsKnown(), Wrong("an object"));
        return Skip(1);
      default:
        return Wrong("an object");
    }
  }

  absl::Status Key(std::string name) override {
    if (skipped_ > 0) return absl::OkStatus();
    key_ = std::move(name);
    if (place_ == Place::kTop) place_ = Place::kNamed;
    if (place_ == Place::kEntry) place_ = Place::kField;
    if (place_ == Place::kMetadata) place_ = Place::kWord;
    return absl::OkStatus();
  }

  absl::Status EndObject() override {
    if (skipped_ > 0) return Skip(-1);
    if (place_ == Place::kTop) {
      place_ = Place::kEnd;
      return absl::OkStatus();
    }
    if (place_ == Place::kEntry) FIRN_RETURN_IF_ERROR(EndEntry());
    place_ = Place::kTop;
    return absl::OkStatus();
  }

  absl::Status BeginArray() override {
    if (skipped_ > 0) return Skip(1);
    FIRN_RETURN_IF(place_ != Place::kField || key_ == "dtype", Wrong("an array"));
    if (!IsKnown()) return Skip(1);
    std::optional<std::vector<int64_t>>& numbers = key_ == "shape" ? shape_ : offsets_;
    FIRN_RETURN_IF(numbers.has_value(), InEntry("expected one ", key_, ", got two"));
    numbers.emplace();
    place_ = Place::kNumbers;
    return absl::OkStatus();
  }

  absl::Status EndArray() override {
    if (skipped_ > 0) return Skip(-1);
    place_ = Place::kEntry;
    return absl::OkStatus();
  }

  absl::Status String(std::string text) override {
    if (skipped_ > 0) return absl::OkStatus();
    if (place_ == Place::kWord) {
      FIRN_RETURN_IF(
          header_->metadata.Contains(key_),
          DataLoss("__metadata__: expected different names, got ", JsonString(key_), " twice"));
      header_->metadata.Insert(key_, std::move(text));
      place_ = Place::kMetadata;
      return absl::OkStatus();
    }
    FIRN_RETURN_IF(place_ == Place::kField && key_ == "dtype" && !dtype_.empty(),
                   InEntry("expected one dtype, got two"));
    FIRN_RETURN_IF(IsKnown() && key_ != "dtype", Wrong("a string"));
    return Field([&] { dtype_ = std::move(text); }, "a string");
  }

  absl::Status Whole(uint64_t value) override {
    if (skipped_ > 0) return absl::OkStatus();
    if (place_ != Place::kNumbers) return Other("a number");
    FIRN_RETURN_IF(value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
                   InEntry(key_, ": expected at most 2^63 - 1, got ", value));
    std::vector<int64_t>& numbers = key_ == "shape" ? *shape_ : *offsets_;
    // Bounds the memory; EndEntry checks whether the numbers are right.
    FIRN_RETURN_IF(numbers.size() == kMaxNumbers,
                   InEntry(key_, ": expected at most ", kMaxNumbers, " numbers, got more"));
    numbers.push_back(static_cast<int64_t>(value));
    return absl::OkStatus();
  }

  absl::Status Number(double, std::string_view text) override {
    if (skipped_ > 0) return absl::OkStatus();
    FIRN_RETURN_IF(
        place_ == Place::kNumbers,
        InEntry(key_, ": expected whole numbers from 0 to 2^63 - 1, got ", std::string(text)));
    return Other("a number");
  }
  absl::Status Bool(bool) override { return skipped_ > 0 ? absl::OkStatus() : Other("a bool"); }
  absl::Status Null() override { return skipped_ > 0 ? absl::OkStatus() : Other("null"); }

 private:
  // The place of the next event; kNamed, kField and kWord are behind a key.
  enum class Place { kStart, kTop, kNamed, kEntry, kField, kNumbers, kMetadata, kWord, kEnd };
  static constexpr size_t kMaxNumbers = 64;

  template <class... Args>
  absl::Status InEntry(const Args&... args) const {
    return DataLoss("entry ", JsonString(entry_), ": ", args...);
  }

  bool IsKnown() const {
    return place_ == Place::kField &&
           (key_ == "dtype" || key_ == "shape" || key_ == "data_offsets");
  }

  absl::Status Wrong(const char* got) const {
    switch (place_) {
      case Place::kStart:
        return DataLoss("expected an object of tensors by their names, got ", got);
      case Place::kNamed:
        return DataLoss(JsonString(key_), ": expected an object, got ", got);
      case Place::kWord:
        return DataLoss("__metadata__, ", JsonString(key_), ": expected a string, got ", got);
      default:
        return InEntry(key_, ": expected ",
                       key_ == "dtype"   ? "a string"
                       : key_ == "shape" ? "an array of sizes"
                                         : "an array of two offsets",
                       ", got ", got);
    }
  }

  // The value of an unknown field of an entry is skipped.
  absl::Status Other(const char* got) {
    FIRN_RETURN_IF(place_ != Place::kField || IsKnown(), Wrong(got));
    place_ = Place::kEntry;
    return absl::OkStatus();
  }

  template <class Keep>
  absl::Status Field(const Keep& keep, const char* got) {
    if (!IsKnown()) return Other(got);
    keep();
    place_ = Place::kEntry;
    return absl::OkStatus();
  }

  absl::Status Skip(int step) {
    skipped_ += step;
    if (skipped_ == 0) place_ = Place::kEntry;
    return absl::OkStatus();
  }

  absl::Status BeginEntry() {
    entry_ = std::move(key_);
    dtype_.clear();
    shape_.reset();
    offsets_.reset();
    FIRN_RETURN_IF(entry_.empty(), DataLoss("expected names of tensors, got an empty one"));
    FIRN_RETURN_IF(entry_.find('\0') != std::string::npos,
                   DataLoss("entry ", JsonString(entry_), ": expected no zero byte in a name"));
    FIRN_RETURN_IF(static_cast<int64_t>(entry_.size()) > limits_.max_name_bytes,
                   ResourceExhausted("a name of more than the ", limits_.max_name_bytes,
                                     " bytes allowed (limits.max_name_bytes)"));
    FIRN_RETURN_IF(static_cast<int64_t>(header_->entries.size()) == limits_.max_tensors,
                   ResourceExhausted("more than the ", limits_.max_tensors,
                                     " tensors allowed (limits.max_tensors)"));
    FIRN_RETURN_IF(!names_.insert(entry_).second, InEntry("the name occurs twice"));
    return absl::OkStatus();
  }

  absl::Status EndEntry() {
    const char* missing = dtype_.empty()          ? "dtype"
                          : !shape_.has_value()   ? "shape"
                          : !offsets_.has_value() ? "data_offsets"
                                                  : nullptr;
    FIRN_RETURN_IF(missing != nullptr, InEntry("expected a field ", missing, ", got none"));
    SafetensorsEntry entry{entry_, FindSafetensorsType(dtype_), *std::move(shape_)};
    FIRN_RETURN_IF(entry.type == nullptr,
                   InEntry("dtype: expected a type of the format, as F32, got ",
                           JsonString(std::string_view(dtype_).substr(0, 40))));
    FIRN_RETURN_IF(offsets_->size() != 2,
                   InEntry("data_offsets: expected 2 numbers, got ", offsets_->size()));
    entry.begin = (*offsets_)[0], entry.end = (*offsets_)[1];
    const std::optional<int64_t> bytes = BytesOf(*entry.type, entry.shape);
    FIRN_RETURN_IF(!bytes.has_value(),
                   InEntry("shape: expected whole bytes of elements, at most 2^60 of them"));
    FIRN_RETURN_IF(entry.end < entry.begin || entry.end - entry.begin != *bytes,
                   InEntry("data_offsets: expected ", *bytes, " bytes from ", entry.begin,
                           " on, as shape and dtype have, got ", entry.end - entry.begin));
    header_->entries.push_back(std::move(entry));
    return absl::OkStatus();
  }

  const LoadLimits& limits_;
  SafetensorsHeader* header_;
  absl::flat_hash_set<std::string> names_;
  Place place_ = Place::kStart;
  bool has_metadata_ = false;
  int skipped_ = 0;  // open brackets of a skipped value
  std::string key_, entry_, dtype_;
  std::optional<std::vector<int64_t>> shape_, offsets_;
};

// Checks that the entries, one behind the other, fill `bytes`, and computes their places in the
// file.
absl::Status PlaceEntries(int64_t data_at, int64_t bytes, std::vector<SafetensorsEntry>* entries) {
  std::vector<size_t> order(entries->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const SafetensorsEntry &x = (*entries)[a], &y = (*entries)[b];
    return std::pair(x.begin, x.end) < std::pair(y.begin, y.end);
  });
  int64_t at = 0;
  for (const size_t i : order) {
    SafetensorsEntry& entry = (*entries)[i];
    FIRN_RETURN_IF(entry.begin != at,
                   DataLoss("entry ", JsonString(entry.name), ": data_offsets: expected ", at,
                            ", where the elements before end, got ", entry.begin));
    at = entry.end;
    FIRN_RETURN_IF(at > bytes, DataLoss("entry ", JsonString(entry.name),
                                        ": data_offsets: expected at most the ", bytes,
                                        " bytes behind the header, got ", at));
    entry.begin += data_at, entry.end += data_at;
  }
  FIRN_RETURN_IF(at != bytes, DataLoss("expected ", at, " bytes behind the header, got ", bytes));
  return absl::OkStatus();
}

absl::Status InHeader(const RandomAccess& file, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(file.name(), ": header, ", status.message()));
}

}  // namespace

const SafetensorsType* FindSafetensorsType(std::string_view word) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const SafetensorsType& type) { return type.word == word; });
  return found == std::end(kTypes) ? nullptr : found;
}

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const RandomAccess& file,
                                                        const LoadLimits& limits) {
  FIRN_RETURN_IF(file.size() < kFirst + 2,
                 Damaged(file.name(), 0, "length of the header",
                         absl::StrCat("expected at least 10 bytes, got ", file.size(),
                                      ": not a .safetensors file")));
  unsigned char first[kFirst] = {};
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, first, kFirst, "length of the header"));
  const uint64_t length = LittleEndian(first, kFirst);
  FIRN_RETURN_IF(length > static_cast<uint64_t>(file.size() - kFirst),
                 Damaged(file.name(), 0, "length of the header",
                         absl::StrCat(length,
                                      " bytes lie outside the file: cut short, or not a "
                                      ".safetensors file")));
  const auto bytes = static_cast<int64_t>(length);
  FIRN_RETURN_IF(bytes > kMaxHeader,
                 Unimplemented(file.name(), ": offset 0, length of the header: expected at most ",
                               kMaxHeader, ", which is the format's limit, got ", bytes));
  FIRN_RETURN_IF(
      bytes > limits.max_metadata_bytes,
      ResourceExhausted(file.name(), ": a header of more than the ", limits.max_metadata_bytes,
                        " bytes allowed (limits.max_metadata_bytes)"));
  std::string text(static_cast<size_t>(bytes), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(kFirst, text.data(), bytes, "header"));
  SafetensorsHeader header;
  Reader reader(limits, &header);
  FIRN_RETURN_IF_ERROR(InHeader(file, ReadJson(text, limits.max_depth, &reader)));
  FIRN_RETURN_IF_ERROR(
      InHeader(file, PlaceEntries(kFirst + bytes, file.size() - kFirst - bytes, &header.entries)));
  return header;
}

}  // namespace firn::io::internal
