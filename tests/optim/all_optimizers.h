#ifndef FIRN_TESTS_OPTIM_ALL_OPTIMIZERS_H_
#define FIRN_TESTS_OPTIM_ALL_OPTIMIZERS_H_

// Every class of optimizer, for tests that hold for all of them, and what can be said of a struct
// of options without knowing it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/optim/adafactor.h"
#include "firn/optim/adagrad.h"
#include "firn/optim/adam.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/muon.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/sgd.h"
#include "firn/optim/sign_steps.h"
#include "firn/optim/trust_ratio.h"
#include "firn/tensor/attrs.h"
#include "gtest/gtest.h"

namespace firn::optim {

using AllOptimizers =
    ::testing::Types<Adabelief, Adabound, Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Lamb,
                     Lars, Lion, Muon, Nadam, Radam, Rmsprop, RmspropGraves, Rprop, Sgd, SgdW>;

// Stands for a value of any type but `Not`.
template <class Not>
struct AnyBut {
  template <class T>
  requires(!std::is_same_v<T, Not>) operator T() const;  // NOLINT: implicit; never defined
};

// How many members an aggregate has: as many values as initialise it.
template <class T, class... Values>
consteval size_t CountMembers() {
  if constexpr (requires { T{std::declval<Values>()..., std::declval<AnyBut<T>>()}; }) {
    return CountMembers<T, Values..., AnyBut<T>>();
  } else {
    return sizeof...(Values);
  }
}

// Sees options one after the other, all as numbers.
class NumberVisitor : public inner::AttrVisitor {
 public:
  using inner::AttrVisitor::Field;
  void Field(const char* name, double& v) override { v = Visit(name, v); }
  void Field(const char* name, bool& v) override { v = Visit(name, v ? 1 : 0) != 0; }
  void Field(const char* name, int64_t& v) override {
    v = static_cast<int64_t>(Visit(name, static_cast<double>(v)));
  }
  void Field(const char* name, std::string&) override { FAIL() << name << " is no number"; }
  void Field(const char* name, std::vector<int64_t>&) override {
    FAIL() << name << " is no number";
  }

 protected:
  // Gives the value that the option has afterwards.
  virtual double Visit(const char* name, double value) = 0;
};

// Names and values of options, lr first.
struct NamedOption {
  std::string name;
  double value;
};
template <class Options>
std::vector<NamedOption> OptionsIn(Options options) {
  struct Lister final : NumberVisitor {
    std::vector<NamedOption> list;
    double Visit(const char* name, double value) override {
      list.push_back({name, value});
      return value;
    }
  } lister;
  lister.Field("lr", options.lr);
  options.Visit(lister);
  return lister.list;
}

// The options with another value for one of them.
template <class Options>
Options WithOption(Options options, const std::string& name, double value) {
  struct Setter final : NumberVisitor {
    std::string name;
    double value = 0;
    double Visit(const char* n, double v) override { return name == n ? value : v; }
  } setter;
  setter.name = name;
  setter.value = value;
  setter.Field("lr", options.lr);
  options.Visit(setter);
  return options;
}

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_ALL_OPTIMIZERS_H_
