#ifndef FIRN_TENSOR_KERNELS_OPTIMIZER_RULE_H_
#define FIRN_TENSOR_KERNELS_OPTIMIZER_RULE_H_

// An optimizer is a rule, a struct from which the operation (cpu/optimizer_step.h), its CUDA
// kernels (cuda/optimizer_step.cuh) and the class (optim/rule_optimizer.h) are made:
//
//   static constexpr const char* kName = "Sgd";       // of the class
//   static constexpr OpName kOp = "sgd_step";         // of the operation
//   using Options = SgdOptions;                       // of the class: lr, and Visit for the others
//   using Attrs = SgdStepAttrs;                       // of the operation; made from Options
//   // What is kept for each parameter, of its shape, by the names that files have: f32 where the
//   // parameter is of a half type, of its dtype otherwise.
//   static constexpr StateTensor kState[] = {{"momentum_buffer", .optional = true}};
//   // Whether these attributes ask for an optional one.
//   static bool Needs(const Attrs& a, size_t state);
//   // An error where the attributes, their lr among them, make no sense.
//   static absl::Status Check(const Attrs& a);
//   // One element: C is float or double, and every member a C. state[i] is that of kState[i];
//   // bit i of `given` is 0 where the call has none. No branches but those on `given`.
//   template <class C>
//   struct Element {
//     C l2, keep, ...;
//     void operator()(C& param, C grad, C* state, unsigned given) const;
//   };
//   // The numbers of a step, the same for all elements. `taken`: the steps before this one.
//   static Element<double> At(const Attrs& a, double lr, int64_t taken);
//
// Where an element's step depends on all elements of its parameter, for example on their norm,
// also:
//
//   static constexpr size_t kSums = 2;
//   // In Element: an element's terms of the sums. May change state; no branches either.
//   void Gather(C param, C grad, C* state, unsigned given, double* terms) const;
//   // In Element<double>: changes its numbers by the sums of the terms of all elements.
//   void Use(const double* sums);
//
// At, operator(), Gather and Use are FIRN_HOST_DEVICE; options, attributes and Element are plain
// numbers.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/op.h"

namespace firn {

struct StateTensor {
  const char* name;
  bool optional = false;
};

// The inputs of an operation that moves parameters: these two, and then, for each parameter, the
// parameter itself, its gradient, its state in order and the count of steps.
enum OptimizerInput {
  kLearningRate,
  kSkip,  // bool, may be absent: where it is true, nothing changes
  kFirstParam
};

// The positions of a rule's inputs behind the parameter.
template <class Rule>
struct StepInputs {
  static constexpr size_t kStates = std::size(Rule::kState);
  static constexpr int kGrad = 1, kState = 2;
  static constexpr int kStep = kState + static_cast<int>(kStates), kCycle = kStep + 1;
};

// The attributes of a rule's operation.
template <class Rule>
typename Rule::Attrs StepAttrsOf(const typename Rule::Options& options) {
  if constexpr (requires { Rule::AttrsOf(options); }) {
    return Rule::AttrsOf(options);
  } else {
    return options;
  }
}

// Whether a parameter has the rule's state of that number.
template <class Rule>
bool HasState(const typename Rule::Attrs& attrs, size_t state) {
  return !Rule::kState[state].optional || Rule::Needs(attrs, state);
}

// For a rule's Check: an error that names the first of these numbers which is negative or NaN.
struct NamedNumber {
  const char* name;
  double value;
};
inline absl::Status NotNegative(std::initializer_list<NamedNumber> numbers) {
  for (const NamedNumber& n : numbers) {
    FIRN_RETURN_IF(!(n.value >= 0), InvalidArgument(n.name, " ", n.value, " must not be negative"));
  }
  return absl::OkStatus();
}
// The same for the first that is not in [0, 1).
inline absl::Status BelowOne(std::initializer_list<NamedNumber> numbers) {
  for (const NamedNumber& n : numbers) {
    FIRN_RETURN_IF(!(n.value >= 0 && n.value < 1),
                   InvalidArgument(n.name, " ", n.value, " must be in [0, 1)"));
  }
  return absl::OkStatus();
}

template <class Rule>
concept HasSums = requires {
  Rule::kSums;
};

// Numbers that were computed in double, in the type of a loop.
template <class Rule, class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE typename Rule::template Element<C> ElementAs(
    const typename Rule::template Element<double>& numbers) {
  constexpr size_t kCount = sizeof(numbers) / sizeof(double);
  struct From {
    double at[kCount];
  };
  struct To {
    C at[kCount];
  };
  const From from = std::bit_cast<From>(numbers);
  To to;
  for (size_t i = 0; i < kCount; ++i) to.at[i] = static_cast<C>(from.at[i]);
  return std::bit_cast<typename Rule::template Element<C>>(to);
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_OPTIMIZER_RULE_H_
