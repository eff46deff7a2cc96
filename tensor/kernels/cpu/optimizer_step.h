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
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/multi_tensor.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/optimizer_rule.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// The value of a 0-d floating input.
double ScalarOf(const KernelContext& k, int i);
// Whether the input kSkip says that the step is skipped.
bool SkipsStep(const KernelContext& k);
// Adds 1 to the counts of steps (i64, may be absent), `offset` after each parameter.
void CountSteps(const KernelContext& k, int cycle, int offset);

namespace internal {

// The declaration without the rule's computation.
OpDef OptimizerOp(std::string_view doc, absl::Span<const StateTensor> state, bool step_optional,
                  const AttrsType* attrs, InferFn infer, const Kernel& kernel);
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

// Elements of a parameter, the first of whose inputs is input `at` of the call.
struct StepPiece {
  const KernelContext& k;
  int at;
  int64_t begin, end;
};

// Runs are computed in whole vectors, so that an element's result does not depend on its place: in
// the remainder of a loop the compiler would merge products and sums differently.
inline constexpr int64_t kRun = 512, kLanes = 64;
constexpr int64_t WholeLanes(int64_t n) { return RoundUp(n, kLanes); }

// x[0, n) in its compute type: x itself where possible, otherwise a copy in `room`, with zeros up
// to whole lanes.
template <class C, class T>
C* RunOf(T* x, int64_t n, C* room) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, C>) {
    if (n % kLanes == 0) return const_cast<C*>(x);
    std::copy_n(x, n, room);
  } else {
    ToFloats(x, n, room);
  }
  std::fill(room + n, room + WholeLanes(n), C{0});
  return room;
}

// Writes back what RunOf gave.
template <class C, class T>
void PutRun(const C* run, int64_t n, T* x) {
  if constexpr (std::is_same_v<T, C>) {
    if (run != x) std::copy_n(run, n, x);
  } else {
    FromFloats(run, n, x);
  }
}

// Calls f(param, grad, state, count) for runs of elements of T in their compute type, of which the
// first `count` elements are valid; changes are written back, for parameters only where kMoves.
template <class Rule, unsigned kGiven, bool kMoves, class T, class F, size_t... S>
void ForEachRun(const StepPiece& piece, const F& f, std::index_sequence<S...>) {
  using C = ComputeOf<T>;
  const auto& [k, at, begin, end] = piece;
  T* const param = k.inout<T>(at);
  const T* const grad = k.in<T>(at + StepInputs<Rule>::kGrad);
  C* const state[] = {k.inout<C>(at + StepInputs<Rule>::kState + static_cast<int>(S))..., nullptr};
  alignas(64) C room[2 + sizeof...(S)][kRun];
  for (int64_t from = begin; from < end; from += kRun) {
    const int64_t n = std::min(kRun, end - from);
    C* const p = RunOf(param + from, n, room[0]);
    const C* const g = RunOf(grad + from, n, room[1]);
    C* const v[] = {(kGiven >> S & 1u) != 0 ? RunOf(state[S] + from, n, room[2 + S]) : nullptr...,
                    nullptr};
    f(p, g, v, n);
    if constexpr (kMoves) PutRun(p, n, param + from);
    (..., ((kGiven >> S & 1u) != 0 ? PutRun(v[S], n, state[S] + from) : void()));
  }
}

template <class Rule, unsigned kGiven, class T, size_t... S>
void MovePiece(const StepPiece& piece, const typename Rule::template Element<double>& numbers,
               std::index_sequence<S...> states) {
  using C = ComputeOf<T>;
  const auto move = ElementAs<Rule, C>(numbers);
  const auto run = [move](C* p, const C* g, C* const* v, int64_t n) {
    const int64_t lanes = WholeLanes(n);
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < lanes; ++i) {
      C x = p[i];
      C s[] = {(kGiven >> S & 1u) != 0 ? v[S][i] : C{0}..., C{0}};
      move(x, g[i], s, kGiven);
      (..., ((kGiven >> S & 1u) != 0 ? void(v[S][i] = s[S]) : void()));
      p[i] = x;
    }
  };
  ForEachRun<Rule, kGiven, true, T>(piece, run, states);
}

// The sums of a piece's terms (Rule::kSums) to `sums`.
template <class Rule, unsigned kGiven, class T, size_t... S>
void GatherPiece(const StepPiece& piece, const typename Rule::template Element<double>& numbers,
                 double* sums, std::index_sequence<S...> states) {
  using C = ComputeOf<T>;
  static constexpr size_t kSums = Rule::kSums;
  const auto move = ElementAs<Rule, C>(numbers);
  std::fill(sums, sums + kSums, 0.0);
  const auto run = [move, sums](const C* p, const C* g, C* const* v, int64_t n) {
    double terms[kSums][kRun];
    const int64_t lanes = WholeLanes(n);
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < lanes; ++i) {
      C s[] = {(kGiven >> S & 1u) != 0 ? v[S][i] : C{0}..., C{0}};
      double t[kSums];
      move.Gather(p[i], g[i], s, kGiven, t);
      (..., ((kGiven >> S & 1u) != 0 ? void(v[S][i] = s[S]) : void()));
      for (size_t j = 0; j < kSums; ++j) terms[j][i] = t[j];
    }
    for (size_t j = 0; j < kSums; ++j) {
      double sum = 0;
      FIRN_SUMS_IN_ANY_ORDER(sum)
      for (int64_t i = 0; i < n; ++i) sum += terms[j][i];
      sums[j] += sum;
    }
  };
  ForEachRun<Rule, kGiven, false, T>(piece, run, states);
}

// Calls f.operator()<T, kGiven>() for the parameter's dtype and the optional state that it has: one
// loop for each choice.
template <class Rule, class F>
void VisitGiven(const KernelContext& k, int at, const F& f) {
  using Inputs = StepInputs<Rule>;
  constexpr auto kPossible = [](size_t choice) {
    for (size_t s = 0; s < Inputs::kStates; ++s) {
      if (!Rule::kState[s].optional && (choice >> s & 1u) == 0) return false;
    }
    return true;
  };
  unsigned given = 0;
  for (size_t s = 0; s < Inputs::kStates; ++s) {
    if (k.has(at + Inputs::kState + static_cast<int>(s))) given |= 1u << s;
  }
  const auto visit = [&]<class T, size_t kGiven>() {
    if constexpr (kPossible(kGiven)) {
      if (given == kGiven) f.template operator()<T, static_cast<unsigned>(kGiven)>();
    }
  };
  VisitFloat(k.in_spec(at).dtype, [&]<class T>(TypeTag<T>) {
    [&]<size_t... G>(std::index_sequence<G...>) { (visit.template operator()<T, G>(), ...); }
    (std::make_index_sequence<size_t{1} << Inputs::kStates>());
  });
}

// The numbers of parameters' steps. Most have taken as many steps as the one before.
template <class Rule>
class StepNumbers {
 public:
  using Numbers = typename Rule::template Element<double>;
  explicit StepNumbers(const KernelContext& k) : k_(k) {}
  const Numbers& Of(int at) {
    const int64_t* const step = k_.in<int64_t>(at + StepInputs<Rule>::kStep);
    const int64_t taken = step == nullptr ? -1 : *step;
    if (taken != taken_) {
      numbers_ = Rule::At(k_.attrs<typename Rule::Attrs>(), ScalarOf(k_, kLearningRate), taken);
      taken_ = taken;
    }
    return numbers_;
  }

 private:
  const KernelContext& k_;
  int64_t taken_ = -2;  // of no step
  Numbers numbers_;
};

// Sums are added up by parts of a parameter, which are cut from its beginning and counted through
// all parameters: so sums depend neither on timing nor on threads nor on other parameters.
inline int64_t NumSumParts(int64_t elements) { return CeilDiv(elements, kMultiTensorBlock); }

// Calls f(part, input, begin, end) for parts [first, last).
template <class Rule, class F>
void VisitParts(const KernelContext& k, int64_t first, int64_t last, const F& f) {
  int64_t part = 0;
  for (int at = kFirstParam; at < k.num_inputs() && part < last; at += StepInputs<Rule>::kCycle) {
    const int64_t n = k.in_spec(at).num_elements(), parts = NumSumParts(n);
    for (int64_t i = std::max<int64_t>(first - part, 0); i < parts && part + i < last; ++i) {
      f(part + i, at, i * kMultiTensorBlock, std::min(n, (i + 1) * kMultiTensorBlock));
    }
    part += parts;
  }
}

template <class Rule, class Query>
int64_t NumSumParts(const Query& q) {
  int64_t parts = 0;
  for (int i = kFirstParam; i < q.num_inputs(); i += StepInputs<Rule>::kCycle) {
    if constexpr (requires { q.in_spec(i); }) {
      parts += NumSumParts(q.in_spec(i).num_elements());
    } else {
      parts += NumSumParts(q.in(i).num_elements());
    }
  }
  return parts;
}

template <class Rule>
size_t ParamOf(int at) {
  return static_cast<size_t>((at - kFirstParam) / StepInputs<Rule>::kCycle);
}

// Room for the sums of each part, and behind them for those of each parameter.
template <class Rule>
size_t SumsWorkspace(const KernelQuery& q) {
  return (static_cast<size_t>(NumSumParts<Rule>(q)) + ParamOf<Rule>(q.num_inputs())) * Rule::kSums *
         sizeof(double);
}

// The sums of all parameters.
template <class Rule>
const double* GatherSums(const KernelContext& k) {
  constexpr size_t kSums = Rule::kSums;
  const int64_t parts = NumSumParts<Rule>(k);
  double* const of_parts = k.workspace<double>();
  double* const of_params = of_parts + static_cast<size_t>(parts) * kSums;
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    StepNumbers<Rule> numbers(k);
    VisitParts<Rule>(k, first, last, [&](int64_t part, int at, int64_t begin, int64_t end) {
      VisitGiven<Rule>(k, at, [&]<class T, unsigned kGiven>() {
        GatherPiece<Rule, kGiven, T>({k, at, begin, end}, numbers.Of(at),
                                     of_parts + static_cast<size_t>(part) * kSums,
                                     std::make_index_sequence<StepInputs<Rule>::kStates>());
      });
    });
  });
  std::fill(of_params, of_params + ParamOf<Rule>(k.num_inputs()) * kSums, 0.0);
  VisitParts<Rule>(k, 0, parts, [&](int64_t part, int at, int64_t, int64_t) {
    for (size_t j = 0; j < kSums; ++j) {
      of_params[ParamOf<Rule>(at) * kSums + j] += of_parts[static_cast<size_t>(part) * kSums + j];
    }
  });
  return of_params;
}

template <class Rule>
absl::Status RunOptimizer(KernelContext& k) {
  using Inputs = StepInputs<Rule>;
  if (SkipsStep(k)) return absl::OkStatus();
  const TensorSeries series(k, kFirstParam, Inputs::kCycle);
  const double* sums = nullptr;
  if constexpr (HasSums<Rule>) sums = GatherSums<Rule>(k);
  ParallelFor(series.num_blocks(), 1, [&](int64_t first, int64_t last) {
    StepNumbers<Rule> of_step(k);
    const auto move = [&](int at, int64_t begin, int64_t end) {
      auto numbers = of_step.Of(at);
      if constexpr (HasSums<Rule>) numbers.Use(sums + ParamOf<Rule>(at) * Rule::kSums);
      VisitGiven<Rule>(k, at, [&]<class T, unsigned kGiven>() {
        MovePiece<Rule, kGiven, T>({k, at, begin, end}, numbers,
                                   std::make_index_sequence<Inputs::kStates>());
      });
    };
    for (int64_t b = first; b < last; ++b) series.VisitBlock(b, move);
  });
  CountSteps(k, Inputs::kCycle, Inputs::kStep);
  return absl::OkStatus();
}

template <class Rule>
constexpr auto WorkspaceOf() -> decltype(Kernel::workspace) {
  if constexpr (HasSums<Rule>) {
    return SumsWorkspace<Rule>;
  } else {
    return nullptr;
  }
}

}  // namespace internal

// The declaration of a rule's operation and its CPU kernel.
template <class Rule>
OpDef OptimizerOp(std::string_view doc) {
  return internal::OptimizerOp(doc, Rule::kState, internal::StepOptional<Rule>(),
                               AttrsOf<typename Rule::Attrs>(), internal::InferOptimizer<Rule>,
                               {.name = "loop",
                                .workspace = internal::WorkspaceOf<Rule>(),
                                .run = internal::RunOptimizer<Rule>});
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_
