#ifndef FIRN_NN_MODULE_LIST_H_
#define FIRN_NN_MODULE_LIST_H_

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include "firn/nn/layer.h"

namespace firn::nn {

namespace internal {
// Throw that the list or dict has no such element.
[[noreturn]] void RaiseNoElement(const Module& list, size_t i);
[[noreturn]] void RaiseNoElement(const Module& dict, const std::string& key);
}  // namespace internal

// Walks a module's children as M&.
template <class M>
class ChildIterator {
 public:
  ChildIterator(const Module* parent, size_t at) : parent_(parent), at_(at) {}
  M& operator*() const { return dynamic_cast<M&>(parent_->child(at_)); }
  ChildIterator& operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(const ChildIterator& a, const ChildIterator& b) { return a.at_ == b.at_; }

 private:
  const Module* parent_;
  size_t at_;
};

// Modules called "0", "1", ...; the owner decides how to use them.
//
//   nn::ModuleList<nn::ResUnit>& units = Add<nn::ModuleList<nn::ResUnit>>(
//       "units", {{.in = 64, .out = 64}, {.in = 64, .out = 128, .stride = 2}});
//   for (nn::ResUnit& unit : units) h = unit(h);
//
// A ModuleList<nn::Layer> holds layers of any kind, made by Append<Kind>(options).
template <class M = Layer>
class ModuleList final : public Module {
  template <class K>
  static auto OptionsOf() {
    if constexpr (requires { typename K::Options; }) {
      return std::vector<typename K::Options>();
    } else {
      return std::vector<int>();  // no element can be made from a list
    }
  }

 public:
  using Options = decltype(OptionsOf<M>());
  ModuleList() = default;
  // One module for each element.
  explicit ModuleList(const Options& options) {
    if constexpr (requires { typename M::Options; }) {
      for (const auto& o : options) Append(o);
    }
  }
  // The options that a clone starts from; appended modules are copied after that.
  Options options() const { return {}; }

  template <std::derived_from<M> Kind = M>
  requires HasOptions<Kind> Kind& Append(const typename Kind::Options& options = {}) {
    return Add<Kind>(std::to_string(num_children()), options);
  }
  template <std::derived_from<M> Kind = M, class... Args>
  requires(!HasOptions<Kind>) Kind& Append(const Args&... args) {
    return Add<Kind>(std::to_string(num_children()), args...);
  }

  size_t size() const { return AskChildren(); }
  // Throws when there is no such element.
  M& operator[](size_t i) const {
    if (i >= num_children()) internal::RaiseNoElement(*this, i);
    return *ChildIterator<M>(this, i);
  }
  ChildIterator<M> begin() const { return {this, 0}; }
  ChildIterator<M> end() const { return {this, size()}; }
};

// Modules by name, in the order of insertion.
template <class M = Layer>
class ModuleDict final : public Module {
 public:
  ModuleDict() = default;

  template <std::derived_from<M> Kind = M>
  requires HasOptions<Kind> Kind& Insert(std::string key,
                                         const typename Kind::Options& options = {}) {
    return Add<Kind>(std::move(key), options);
  }
  template <std::derived_from<M> Kind = M, class... Args>
  requires(!HasOptions<Kind>) Kind& Insert(std::string key, const Args&... args) {
    return Add<Kind>(std::move(key), args...);
  }

  size_t size() const { return AskChildren(); }
  bool Contains(const std::string& key) const {
    return FindChild(key) != nullptr || (AskChildren(), false);
  }
  // Throws when there is no such element.
  M& operator[](const std::string& key) const {
    Module* found = FindChild(key);
    if (found == nullptr) internal::RaiseNoElement(*this, key);
    return dynamic_cast<M&>(*found);
  }
  ChildIterator<M> begin() const { return {this, 0}; }
  ChildIterator<M> end() const { return {this, size()}; }
};

}  // namespace firn::nn

#endif  // FIRN_NN_MODULE_LIST_H_
