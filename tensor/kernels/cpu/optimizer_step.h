#ifndef FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_
#define FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_

// The operation of a rule (kernels/optimizer_rule.h), which moves all parameters of a network in
// one call: one pass that reads parameter, gradient and state once and writes what changed. Work
// is shared out by blocks of elements, so that hundreds of small parameters beside a few large ones
// keep all threads busy.

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "device/status_macros.h"
#include "tensor/kernels/cpu/half.h"
#include "tensor/kernels/cpu/multi_tensor.h"
#include "tensor/kernels/functor.h"
#include "tensor/kernels/optimizer_rule.h"
#include "tensor/op.h"

namespace firn::cpu {

// The value of a 0-d floating input.
double ScalarOf(const KernelContext& k, int i);
// Whether the input kSkip says so.
bool SkipsStep(const KernelContext& k);
// Adds 1 to the counts of steps (i64, may be absent), `offset` after each parameter.
void CountSteps(const KernelContext& k, int cycle, int offset);

namespace internal {

// All but what is computed.
OpDef OptimizerOp(std::string_view doc, absl::Span<const StateTensor> state, bool step_optional,
                  const AttrsType* attrs, InferFn infer, absl::Status (*run)(KernelContext&));
// Refuses tensors whose shape is not that of the parameter before them.
absl::Status InferStep(InferContext& c, absl::Span<const StateTensor> state);

template <class Rule>
constexpr bool StepOptional() {
  if constexpr (requires { Rule::kStepOptional; }) return Rule::kStepOptional;
  return false;
}

template <class Rule>
absl::Status InferOptimizer(InferContext& c) {
  using Inputs = StepInputs<Rule>;
  const auto& a = c.attrs<typename Rule::Attrs>();
  FIRN_RETURN_IF_ERROR(Rule::Check(a));
  FIRN_RETURN_IF_ERROR(InferStep(c, Rule::kState));
  for (size_t s = 0; s < Inputs::kStates; ++s) {
    if (!Rule::kState[s].optional || !Rule::Needs(a, s)) continue;
    for (int p = kFirstParam; p < c.num_inputs(); p += Inputs::kCycle) {
      FIRN_RETURN_IF(!c.has(p + Inputs::kState + static_cast<int>(s)),
                     InvalidArgument("these options need a ", Rule::kState[s].name));
    }
  }
  return absl::OkStatus();
}

// Elements [begin, end) of a parameter, the first of its inputs being input `at` of the call.
template <class Rule, unsigned kGiven, class T, size_t... S>
void MovePiece(const KernelContext& k, int at, int64_t begin, int64_t end,
               const typename Rule::template Element<double>& numbers, std::index_sequence<S...>) {
  using C = ComputeOf<T>;
  constexpr int64_t kMost = 512;
  const auto move = ElementAs<Rule, C>(numbers);
  T* const param = k.inout<T>(at);
  const T* const grad = k.in<T>(at + StepInputs<Rule>::kGrad);
  T* const state[] = {k.inout<T>(at + StepInputs<Rule>::kState + static_cast<int>(S))...};
  Piece<T, kMost> of_param, of_grad, of_state[sizeof...(S) + 1];
  for (int64_t from = begin; from < end; from += kMost) {
    const int64_t n = std::min(kMost, end - from);
    of_param.Read(param + from, n);
    C* const p = of_param.Room(param + from);
    const C* const g = of_grad.Read(grad + from, n);
    C* v[sizeof...(S) + 1] = {};
    (..., ((kGiven >> S & 1u) != 0 ? void((of_state[S].Read(state[S] + from, n),
                                           v[S] = of_state[S].Room(state[S] + from)))
                                   : void()));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C x = p[i];
      C s[] = {(kGiven >> S & 1u) != 0 ? v[S][i] : C{0}...};
      move(x, g[i], s, kGiven);
      (..., ((kGiven >> S & 1u) != 0 ? void(v[S][i] = s[S]) : void()));
      p[i] = x;
    }
    of_param.Write(param + from, n);
    (..., ((kGiven >> S & 1u) != 0 ? of_state[S].Write(state[S] + from, n) : void()));
  }
}

// One loop for each choice of optional state.
template <class Rule, class T, size_t... G>
void MoveGiven(const KernelContext& k, int at, int64_t begin, int64_t end, unsigned given,
               const typename Rule::template Element<double>& numbers, std::index_sequence<G...>) {
  constexpr auto kStates = std::make_index_sequence<StepInputs<Rule>::kStates>();
  constexpr auto kPossible = [](size_t choice) {
    for (size_t s = 0; s < StepInputs<Rule>::kStates; ++s) {
      if (!Rule::kState[s].optional && (choice >> s & 1u) == 0) return false;
    }
    return true;
  };
  const auto move = [&]<unsigned kGiven>() {
    if constexpr (kPossible(kGiven)) {
      if (given == kGiven) MovePiece<Rule, kGiven, T>(k, at, begin, end, numbers, kStates);
    }
  };
  (move.template operator()<static_cast<unsigned>(G)>(), ...);
}

template <class Rule>
absl::Status RunOptimizer(KernelContext& k) {
  using Inputs = StepInputs<Rule>;
  if (SkipsStep(k)) return absl::OkStatus();
  const auto& attrs = k.attrs<typename Rule::Attrs>();
  const double lr = ScalarOf(k, kLearningRate);
  TensorSeries(k, kFirstParam, Inputs::kCycle)
      .ForEachPiece([&](int at, int64_t begin, int64_t end) {
        const int64_t* const step = k.in<int64_t>(at + Inputs::kStep);
        const auto numbers = Rule::At(attrs, lr, step == nullptr ? -1 : *step);
        unsigned given = 0;
        for (size_t s = 0; s < Inputs::kStates; ++s) {
          if (k.has(at + Inputs::kState + static_cast<int>(s))) given |= 1u << s;
        }
        VisitFloat(k.in_spec(at).dtype, [&]<class T>(TypeTag<T>) {
          MoveGiven<Rule, T>(k, at, begin, end, given, numbers,
                             std::make_index_sequence<size_t{1} << Inputs::kStates>());
        });
      });
  CountSteps(k, Inputs::kCycle, Inputs::kStep);
  return absl::OkStatus();
}

}  // namespace internal

// The declaration of a rule's operation and its CPU kernel.
template <class Rule>
OpDef OptimizerOp(std::string_view doc) {
  return internal::OptimizerOp(doc, Rule::kState, internal::StepOptional<Rule>(),
                               AttrsOf<typename Rule::Attrs>(), internal::InferOptimizer<Rule>,
                               internal::RunOptimizer<Rule>);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_
