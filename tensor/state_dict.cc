// What of the template does not depend on its values: the look-up by name, and the errors.

#include "firn/tensor/state_dict.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::inner::internal {
namespace {

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

}  // namespace

struct NameIndex::Map : std::unordered_map<std::string, size_t, Hash, std::equal_to<>> {};

NameIndex::NameIndex() = default;
NameIndex::NameIndex(const NameIndex& other)
    : map_(other.map_ == nullptr ? nullptr : std::make_unique<Map>(*other.map_)) {}
NameIndex::NameIndex(NameIndex&&) noexcept = default;
NameIndex& NameIndex::operator=(NameIndex other) noexcept {
  map_.swap(other.map_);
  return *this;
}
NameIndex::~NameIndex() = default;

size_t NameIndex::Find(std::string_view name) const {
  if (map_ == nullptr) return kNone;
  const auto it = map_->find(name);
  return it == map_->end() ? kNone : it->second;
}

bool NameIndex::Insert(const std::string& name, size_t at) {
  if (map_ == nullptr) map_ = std::make_unique<Map>();
  return map_->emplace(name, at).second;
}

void NameIndex::Erase(std::string_view name, size_t at) {
  map_->erase(map_->find(name));
  for (auto& [unused, position] : *map_) position -= position > at ? 1 : 0;
}

void NameIndex::RaiseNoEntry(std::string_view name) const {
  std::vector<std::string> names(map_ == nullptr ? 0 : map_->size());
  if (map_ != nullptr) {
    for (const auto& [there, at] : *map_) names[at] = there;
  }
  RaiseStatus(NotFound("no entry named ", name, InsteadOf(name, names)), "look-up");
}

void RaiseNameTaken(std::string_view name) {
  RaiseStatus(InvalidArgument("there is an entry named ", name, " already"), "insert");
}

}  // namespace firn::inner::internal
