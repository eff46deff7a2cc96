// The stream has five pickles: a number that no other file begins with, the protocol, facts about
// the machine that wrote it, the object, and the keys of its storages in the order in which these
// follow, each behind its size.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/torch/internal/pickle.h"
#include "firn/io/torch/internal/torch_archive.h"
#include "firn/io/torch/internal/torch_tensors.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;
using Kind = PickleValue::Kind;

class Stream final : public TorchFile {
 public:
  explicit Stream(const RandomAccess& file) : file_(file) {}

  const std::string& name() const override { return file_.name(); }
  absl::StatusOr<int64_t> BytesOf(const std::string& key) const override {
    const auto found = places_.find(key);
    FIRN_RETURN_IF(found == places_.end(),
                   DataLoss("expected a storage ", JsonString(key), ", got none"));
    return found->second.bytes;
  }
  absl::Status Read(const std::string& key, char* out) const override {
    const Place& place = places_.find(key)->second;
    return file_.ReadAt(place.at, out, place.bytes, absl::StrCat("storage ", key));
  }

  // Bytes of one element by the storages' keys, as the object has them.
  absl::Status FindElements(const Pickle& object) {
    for (const PickleValue& value : object.values) {
      if (value.kind != Kind::kStored || value.items.size() != 1) continue;
      const PickleValue& id = object[value.items[0]];
      if (id.items.size() < 5) continue;
      const std::string& global = object[id.items[1]].text;
      const TorchType* type = global.starts_with("torch ")
                                  ? FindTorchStorage(std::string_view(global).substr(6))
                                  : nullptr;
      // A storage of bytes tells no type; elements are then bytes.
      const int bytes = type == nullptr ? 1 : type->bytes;
      const auto [known, is_new] = elements_.emplace(object[id.items[2]].text, bytes);
      FIRN_RETURN_IF(!is_new && known->second != bytes,
                     DataLoss(name(), ": storage ", known->first, ": expected one type of it"));
    }
    return absl::OkStatus();
  }

  // The storages fill the rest of the file from `at` on.
  absl::Status FindPlaces(const Pickle& keys, int64_t at) {
    FIRN_RETURN_IF(keys.top().kind != Kind::kList,
                   DataLoss(name(), ": expected a list of the storages' keys"));
    for (const uint32_t item : keys.top().items) {
      const std::string& key = keys[item].text;
      const auto element = elements_.find(key);
      FIRN_RETURN_IF(keys[item].kind != Kind::kString || element == elements_.end(),
                     DataLoss(name(), ": expected keys of storages, got ", JsonString(key)));
      char count[8] = {};
      FIRN_RETURN_IF_ERROR(file_.ReadAt(at, count, 8, absl::StrCat("size of storage ", key)));
      const uint64_t n = LittleEndian(count, 8);
      at += 8;
      FIRN_RETURN_IF(n > static_cast<uint64_t>((file_.size() - at) / element->second),
                     Damaged(name(), at - 8, absl::StrCat("size of storage ", key),
                             absl::StrCat(n, " elements lie outside the file")));
      const Place place{at, static_cast<int64_t>(n) * element->second};
      FIRN_RETURN_IF(
          !places_.emplace(key, place).second,
          DataLoss(name(), ": expected different keys, got ", JsonString(key), " twice"));
      at += place.bytes;
    }
    FIRN_RETURN_IF(at != file_.size(), Damaged(name(), at, "end", "expected no more bytes"));
    return absl::OkStatus();
  }

 private:
  struct Place {
    int64_t at, bytes;
  };
  const RandomAccess& file_;
  absl::flat_hash_map<std::string, int> elements_;
  absl::flat_hash_map<std::string, Place> places_;
};

// The value of a word's key in a dict; null where there is none.
const PickleValue* Find(const Pickle& pickle, std::string_view key) {
  const PickleValue& dict = pickle.top();
  for (size_t i = 0; dict.kind == Kind::kDict && i + 1 < dict.items.size(); i += 2) {
    if (pickle[dict.items[i]].text == key) return &pickle[dict.items[i + 1]];
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<StateDict> ReadTorchStream(const RandomAccess& file, const TorchOptions& options) {
  std::string bytes(
      static_cast<size_t>(std::min(file.size(), options.load.limits.max_metadata_bytes)), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, bytes.data(), static_cast<int64_t>(bytes.size()), "pickles"));
  size_t at = kTorchStreamMagic.size();
  const auto next = [&]() -> absl::StatusOr<Pickle> {
    absl::StatusOr<Pickle> pickle =
        ReadPickle(std::string_view(bytes).substr(at), options.load.limits);
    FIRN_RETURN_IF(!pickle.ok(),
                   absl::Status(pickle.status().code(),
                                absl::StrCat(file.name(), ": offset ", at,
                                             ", pickle: ", pickle.status().message())));
    at += pickle->end;
    return pickle;
  };
  FIRN_ASSIGN_OR_RETURN(const Pickle protocol, next());
  FIRN_RETURN_IF(protocol.top().kind != Kind::kInt || protocol.top().integer != 1001,
                 Unimplemented(file.name(), ": expected protocol 1001"));
  FIRN_ASSIGN_OR_RETURN(const Pickle machine, next());
  const PickleValue* little = Find(machine, "little_endian");
  FIRN_RETURN_IF(little == nullptr || little->kind != Kind::kBool || little->integer != 1,
                 Unimplemented(file.name(), ": expected a file of a little-endian machine"));
  FIRN_ASSIGN_OR_RETURN(const Pickle object, next());
  FIRN_ASSIGN_OR_RETURN(const Pickle keys, next());
  Stream stream(file);
  FIRN_RETURN_IF_ERROR(stream.FindElements(object));
  FIRN_RETURN_IF_ERROR(stream.FindPlaces(keys, static_cast<int64_t>(at)));
  return TorchTensors(object, stream, options);
}

}  // namespace firn::io::internal
