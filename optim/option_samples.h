#ifndef FIRN_OPTIM_OPTION_SAMPLES_H_
#define FIRN_OPTIM_OPTION_SAMPLES_H_

// The data by which tests check every optimizer: options, and its step in double, the slow way, by
// the formula in the comment of its options. An optimizer has both beside its samples, under the
// name that it is registered by:
//
//   FIRN_REGISTER_OPTION_SAMPLES(nadam) { return OfRule<NadamRule>({{.lr = 0.1, .beta1 = 0.5}}); }

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/tensor/attrs.h"
#include "firn/tensor/kernels/optimizer_rule.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// A parameter of kRows x kColumns with its gradient and its state, in the order of state_names.
struct Moved {
  static constexpr size_t kRows = 3, kColumns = 4, kSize = kRows * kColumns;
  using Matrix = std::array<double, kSize>;
  Matrix x = {}, grad = {};
  std::array<Matrix, 3> state = {};
};

struct OptionSamples {
  // Sets of options that are tried as they are and with each option changed. Each option must
  // change the result for one of the sets, except `without`, which the class has and does not use.
  std::vector<Attrs> bases = {};
  std::string without = {};
  size_t members = 0;  // of the struct of options
  // The step number t, counted from 1.
  std::function<void(AttrsRef options, double lr, double t, Moved& moved)> step = nullptr;
};

// The samples of the optimizer of that name. Throws std::out_of_range if it has none.
const OptionSamples& OptionSamplesOf(std::string_view optimizer);

// One option of some, all being numbers.
struct NamedOption {
  std::string name;
  double value;
};
std::vector<NamedOption> OptionsIn(const Attrs& options);
// The options with another value for one of them.
Attrs WithOption(const Attrs& options, std::string_view name, double value);
// Sees or sets options one after the other, all as numbers: gives each the value that f returns.
class NumberVisitor final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  using F = std::function<double(std::string_view name, double value)>;
  explicit NumberVisitor(F f) : f_(std::move(f)) {}
  void Field(const char* name, double& v) override { v = f_(name, v); }
  void Field(const char* name, bool& v) override { v = f_(name, v ? 1 : 0) != 0; }
  void Field(const char* name, int64_t& v) override {
    v = static_cast<int64_t>(f_(name, static_cast<double>(v)));
  }
  void Field(const char* name, std::string& v) override;
  void Field(const char* name, std::vector<int64_t>& v) override;

 private:
  F f_;
};

// Options as attributes, lr first.
template <class Options>
struct WithLr {
  Options options;
  template <class V>
  void Visit(V& v) {
    v.Field("lr", options.lr);
    options.Visit(v);
  }
};

template <class Options>
requires requires(const Options& o) { o.lr; }
Options WithOption(const Options& options, std::string_view name, double value) {
  const Attrs changed = WithOption(Attrs(WithLr<Options>{options}), name, value);
  return changed.ref().template get<WithLr<Options>>().options;
}

// Stands for a value of any type but `Not`.
template <class Not>
struct AnyBut {
  template <class T>
  requires(!std::is_same_v<T, Not>) operator T() const;  // NOLINT: implicit; never defined
};

// The number of an aggregate's members: the largest number of values that initialise it.
template <class T, class... Values>
consteval size_t CountMembers() {
  if constexpr (requires { T{std::declval<Values>()..., std::declval<AnyBut<T>>()}; }) {
    return CountMembers<T, Values..., AnyBut<T>>();
  } else {
    return sizeof...(Values);
  }
}

// Samples of an optimizer whose step is written here: step(options, lr, t, moved).
template <class Options, class Step>
OptionSamples OfStep(const std::vector<Options>& bases, Step step) {
  OptionSamples samples{.members = CountMembers<Options>()};
  for (const Options& base : bases) samples.bases.emplace_back(WithLr<Options>{base});
  samples.step = [step](AttrsRef ref, double lr, double t, Moved& moved) {
    Options options = ref.get<WithLr<Options>>().options;
    if constexpr (requires { options.Complete(); }) options.Complete();
    step(options, lr, t, moved);
  };
  return samples;
}

// A step by the reference of the operation, which is independent of its kernels. `given`: which
// states the call has.
void StepByReference(std::string_view op, AttrsRef attrs, double lr, double t,
                     const std::vector<bool>& given, Moved& moved);

// Samples of a rule whose operation takes the options as they are. An optimizer that translates its
// options for an operation writes its step down separately.
template <class Rule>
OptionSamples OfRule(const std::vector<typename Rule::Options>& bases) {
  return OfStep(bases, [](const typename Rule::Options& o, double lr, double t, Moved& moved) {
    std::vector<bool> given;
    for (size_t s = 0; s < StepInputs<Rule>::kStates; ++s) given.push_back(HasState<Rule>(o, s));
    StepByReference(Rule::kOp.view(), o, lr, t, given, moved);
  });
}

// The object that FIRN_REGISTER_OPTION_SAMPLES defines.
struct OptionSamplesRegistration {
  OptionSamplesRegistration(const char* name, OptionSamples (*make)());
};
#define FIRN_REGISTER_OPTION_SAMPLES(name)                                            \
  static ::firn::testing::OptionSamples FirnOptionSamples_##name();                   \
  static const ::firn::testing::OptionSamplesRegistration firn_option_samples_##name( \
      #name, FirnOptionSamples_##name);                                               \
  static ::firn::testing::OptionSamples FirnOptionSamples_##name()

}  // namespace firn::testing

#endif  // FIRN_OPTIM_OPTION_SAMPLES_H_
