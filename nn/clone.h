#ifndef FIRN_NN_CLONE_H_
#define FIRN_NN_CLONE_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "firn/device/philox_state.h"
#include "firn/nn/module.h"

namespace firn::nn {

// Copies the state of one module tree into another of the same classes. Library code only.
class ModuleCloner {
 public:
  // Another module of m's kind: by the factory it was added with, or null for a root made by its
  // constructor.
  static std::unique_ptr<Module> Remake(const Module& m) {
    if (!m.factory_) return nullptr;
    std::unique_ptr<Module> made = m.factory_(&m);
    made->factory_ = m.factory_;
    return made;
  }
  // Sets how to make another module, for a root that a function has made.
  static void SetFactory(Module& m, ModuleFactory factory) { m.factory_ = std::move(factory); }
  // Makes `to` a copy of `from`: children that were added after construction are added, parameters
  // and buffers copied. Throws when the trees differ otherwise.
  static void Copy(const Module& from, Module& to);
  // Throws the error that another m cannot be made.
  [[noreturn]] static void RaiseNoWay(const Module& m);
};

// Puts the default generator back to its position before. Library code only.
class RandomPositionScope {
 public:
  [[nodiscard]] RandomPositionScope();
  ~RandomPositionScope();
  RandomPositionScope(const RandomPositionScope&) = delete;
  RandomPositionScope& operator=(const RandomPositionScope&) = delete;

 private:
  const PhiloxState saved_;
};

// A copy of a module with parameters, buffers, modes and frozenness of its own. A parameter shared
// by several modules is shared by their copies. Parametrizations (nn/parametrize.h) are copied with
// their originals. Gradients and hooks are not copied, nor are members
// of M that are neither registered nor part of its options.
//
// A module without a parent is made again from options(), if M has Options, else by M's default
// constructor. Throws when M is not the exact class of such a module.
//
// Draws of initialisers are undone: the program's random numbers are the same with and without the
// copy. No other thread may draw from the default generator meanwhile.
template <class M>
std::unique_ptr<M> Clone(const M& m) {
  const RandomPositionScope random_position;
  std::unique_ptr<Module> copy = ModuleCloner::Remake(m);
  if (copy == nullptr) {
    if constexpr (requires { std::make_unique<M>(m.options()); }) {
      copy = std::make_unique<M>(m.options());
    } else if constexpr (!requires { typename M::Options; } && std::is_default_constructible_v<M>) {
      copy = std::make_unique<M>();
    }
  }
  M* made = dynamic_cast<M*>(copy.get());
  if (made == nullptr) ModuleCloner::RaiseNoWay(m);
  static_cast<void>(copy.release());
  std::unique_ptr<M> result(made);
  ModuleCloner::Copy(m, *result);
  return result;
}

}  // namespace firn::nn

#endif  // FIRN_NN_CLONE_H_
