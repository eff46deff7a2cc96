#ifndef FIRN_TENSOR_STATE_DICT_H_
#define FIRN_TENSOR_STATE_DICT_H_

// Named tensors in a fixed order, which modules and optimizers give to be saved, and take back.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner::internal {
[[noreturn]] void RaiseNameTaken(std::string_view name);

// The places of a map's entries, by their names. An index that was moved from is empty.
class NameIndex {
 public:
  static constexpr size_t kNone = ~size_t{0};

  NameIndex();
  NameIndex(const NameIndex& other);
  NameIndex(NameIndex&& other) noexcept;
  NameIndex& operator=(NameIndex other) noexcept;
  ~NameIndex();

  // kNone when there is no such name.
  size_t Find(std::string_view name) const;
  // Adds the name; returns whether it was new.
  bool Insert(const std::string& name, size_t at);
  // Entries behind the one at `at`, which is `name`, move up.
  void Erase(std::string_view name, size_t at);
  // Throws that there is no such name, and lists the existing ones.
  [[noreturn]] void RaiseNoEntry(std::string_view name) const;

 private:
  struct Map;
  std::unique_ptr<Map> map_;  // null: empty. Kept out of what every program compiles
};
}  // namespace inner::internal

// A map from names to values that is walked in the order of insertion. Look-up is by hash. Values
// stay where they are until something is erased or inserted. A map that was moved from is empty and
// may be used again. Thread-compatible.
template <class Value>
class OrderedMap {
 public:
  using Entry = std::pair<std::string, Value>;
  using value_type = Entry;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  OrderedMap() = default;
  // Throws when a name occurs twice.
  OrderedMap(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) Insert(e.first, e.second);
  }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // Entries read `for (const auto& [name, value] : map)`.
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }

  bool Contains(std::string_view name) const {
    return index_.Find(name) != inner::internal::NameIndex::kNone;
  }
  // Returns null when there is no such name.
  const Value* Find(std::string_view name) const {
    const size_t at = index_.Find(name);
    return at == inner::internal::NameIndex::kNone ? nullptr : &entries_[at].second;
  }
  Value* Find(std::string_view name) {
    return const_cast<Value*>(static_cast<const OrderedMap*>(this)->Find(name));
  }
  // Throws when there is no such name.
  const Value& operator[](std::string_view name) const {
    const Value* value = Find(name);
    if (value == nullptr) index_.RaiseNoEntry(name);
    return *value;
  }

  // Appends an entry. Throws when the name is taken.
  void Insert(std::string name, Value value) {
    if (!index_.Insert(name, entries_.size())) {
      inner::internal::RaiseNameTaken(name);
    }
    entries_.emplace_back(std::move(name), std::move(value));
  }
  // Appends every entry of `other`, in its order, as "<prefix>.<name>"; Part(prefix) takes them out
  // again. So several maps fit into one map and one file. An empty prefix leaves names as they are.
  // Throws when one of the names is taken; nothing is appended then.
  void InsertAll(std::string_view prefix, const OrderedMap& other) {
    OrderedMap joined = *this;  // `other` may be this map
    for (const auto& [name, value] : other) joined.Insert(Before(prefix).append(name), value);
    *this = std::move(joined);
  }
  // The entries "<prefix>.<name>", in their order, as "<name>"; all entries for an empty prefix.
  // Empty where there are none, as for a module without tensors; the code that loads the entries
  // reports missing ones.
  OrderedMap Part(std::string_view prefix) const {
    const std::string before = Before(prefix);
    OrderedMap part;
    for (const auto& [name, value] : entries_) {
      if (name.starts_with(before)) part.Insert(name.substr(before.size()), value);
    }
    return part;
  }
  // Overwrites the entry in its place, or appends a new one.
  void Set(std::string name, Value value) {
    if (Value* present = Find(name)) {
      *present = std::move(value);
    } else {
      Insert(std::move(name), std::move(value));
    }
  }
  // Returns whether there was such an entry. Linear in size().
  bool Erase(std::string_view name) {
    const size_t at = index_.Find(name);
    if (at == inner::internal::NameIndex::kNone) return false;
    index_.Erase(name, at);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

 private:
  // What stands before the names of a part.
  static std::string Before(std::string_view prefix) {
    return prefix.empty() ? std::string() : std::string(prefix) + ".";
  }

  std::vector<Entry> entries_;
  inner::internal::NameIndex index_;
};

// "layer1.conv1.weight" -> tensor.
using StateDict = OrderedMap<Tensor>;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace firn

#endif  // FIRN_TENSOR_STATE_DICT_H_
