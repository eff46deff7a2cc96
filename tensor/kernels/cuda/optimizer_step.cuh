#ifndef FIRN_TENSOR_KERNELS_CUDA_OPTIMIZER_STEP_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_OPTIMIZER_STEP_CUH_

// The operation of a rule (kernels/optimizer_rule.h) on CUDA: the numbers of every parameter's
// step, then all elements in chunks.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/multi_tensor.cuh"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/optimizer_rule.h"
#include "firn/tensor/op.h"

namespace firn::cuda {

namespace internal {

// The numbers of each parameter's step. Counts the steps as well.
template <class Rule>
struct StepNumbersBody {
  static constexpr int kMost = 400;
  using Numbers = typename Rule::template Element<double>;

  typename Rule::Attrs attrs;
  const void* lr;
  DType lr_dtype;
  const bool* skip;  // may be null
  Numbers* to;
  int64_t* steps[kMost];  // null: not counted

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t* const step = steps[i];
    const int64_t taken = step == nullptr ? -1 : *step;
    to[i] = Rule::At(attrs, ScalarAt(lr, lr_dtype), taken);
    if (step != nullptr && (skip == nullptr || !*skip)) *step = taken + 1;
  }
};

// Writes numbers for each parameter to the workspace.
template <class Rule>
absl::Status MakeStepNumbers(const KernelContext& k) {
  using Inputs = StepInputs<Rule>;
  using Body = StepNumbersBody<Rule>;
  Body body = {k.attrs<typename Rule::Attrs>(), k.in<void>(kLearningRate),
               k.in_spec(kLearningRate).dtype, k.in<bool>(kSkip),
               k.workspace<typename Body::Numbers>()};
  int count = 0;
  const auto flush = [&]() -> absl::Status {
    FIRN_RETURN_IF_ERROR(ForEach(k, count, body));
    body.to += count;
    count = 0;
    return absl::OkStatus();
  };
  for (int i = kFirstParam; i < k.num_inputs(); i += Inputs::kCycle) {
    if (count == Body::kMost) FIRN_RETURN_IF_ERROR(flush());
    body.steps[count++] = k.inout<int64_t>(i + Inputs::kStep);
  }
  return flush();
}

// One element of a parameter and its state, in registers.
template <class Rule, class T>
struct StepElement {
  using C = ComputeOf<T>;
  static constexpr size_t kStates = StepInputs<Rule>::kStates;

  // Parameter, gradient, state (null: not given).
  FIRN_HOST_DEVICE StepElement(void* const* arrays, int64_t i)
      : param(static_cast<C>(static_cast<const T*>(arrays[0])[i])),
        grad(static_cast<C>(static_cast<const T*>(arrays[1])[i])) {
#pragma unroll
    for (size_t s = 0; s < kStates; ++s) {
      if (arrays[2 + s] == nullptr) continue;
      state[s] = static_cast<const C*>(arrays[2 + s])[i];
      given |= 1u << s;
    }
  }
  FIRN_HOST_DEVICE void WriteState(void* const* arrays, int64_t i) const {
#pragma unroll
    for (size_t s = 0; s < kStates; ++s) {
      if ((given >> s & 1u) != 0) static_cast<C*>(arrays[2 + s])[i] = state[s];
    }
  }

  C param, grad, state[kStates + 1] = {};
  unsigned given = 0;
};

template <class Rule>
using StepTable = TensorTable<StepInputs<Rule>::kStates + 2>;

template <class Rule, class T>
struct StepBody {
  StepTable<Rule> table;
  const typename Rule::template Element<double>* numbers;
  const bool* skip;  // may be null

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    if (skip != nullptr && *skip) return;
    const Piece piece = table.PieceOf(chunk);
    void* const* const arrays = table.arrays[piece.entry];
    const auto move = ElementAs<Rule, ComputeOf<T>>(numbers[table.id[piece.entry]]);
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      StepElement<Rule, T> e(arrays, i);
      move(e.param, e.grad, e.state, e.given);
      e.WriteState(arrays, i);
      static_cast<T*>(arrays[0])[i] = static_cast<T>(e.param);
    }
  }
};

struct AddSums {
  FIRN_HOST_DEVICE double operator()(double a, double b) const { return a + b; }
};

// The sums of each chunk's terms, for a rule that has sums.
template <class Rule, class T>
struct GatherBody {
  StepTable<Rule> table;
  const typename Rule::template Element<double>* numbers;
  const bool* skip;  // may be null
  double* to;        // kSums for each chunk of all tables

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    using C = ComputeOf<T>;
    if (skip != nullptr && *skip) return;
    const Piece piece = table.PieceOf(chunk);
    void* const* const arrays = table.arrays[piece.entry];
    const auto move = ElementAs<Rule, C>(numbers[table.id[piece.entry]]);
    double sums[Rule::kSums] = {};
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      StepElement<Rule, T> e(arrays, i);
      double terms[Rule::kSums];
      move.Gather(e.param, e.grad, e.state, e.given, terms);
      e.WriteState(arrays, i);
      for (size_t j = 0; j < Rule::kSums; ++j) sums[j] += terms[j];
    }
    for (size_t j = 0; j < Rule::kSums; ++j) {
      const double sum = team.Reduce(sums[j], AddSums());
      if (team.rank() == 0) {
        to[static_cast<size_t>(table.past + chunk) * Rule::kSums + j] = sum;
      }
    }
  }
};

// Applies each parameter's sums to its numbers.
template <class Rule>
struct UseSumsBody {
  StepTable<Rule> table;
  typename Rule::template Element<double>* numbers;
  const bool* skip;  // may be null
  const double* of_chunks;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t entry) const {
    if (skip != nullptr && *skip) return;
    const int64_t begin = table.past + (entry == 0 ? 0 : table.last_chunk[entry - 1]);
    const int64_t end = table.past + table.last_chunk[entry];
    double sums[Rule::kSums] = {};
    for (size_t j = 0; j < Rule::kSums; ++j) {
      for (int64_t c = begin + team.rank(); c < end; c += team.size()) {
        sums[j] += of_chunks[static_cast<size_t>(c) * Rule::kSums + j];
      }
      sums[j] = team.Reduce(sums[j], AddSums());
    }
    if (team.rank() == 0) numbers[table.id[entry]].Use(sums);
  }
};

// Numbers of each parameter's step; behind them, the sums of each chunk.
template <class Rule>
size_t StepWorkspace(const KernelQuery& q) {
  size_t bytes = static_cast<size_t>(q.num_inputs() / StepInputs<Rule>::kCycle) *
                 sizeof(typename Rule::template Element<double>);
  if constexpr (HasSums<Rule>) {
    int64_t chunks = 0;
    for (int i = kFirstParam; i < q.num_inputs(); i += StepInputs<Rule>::kCycle) {
      chunks += NumChunks(q.in(i).num_elements());
    }
    bytes += static_cast<size_t>(chunks) * Rule::kSums * sizeof(double);
  }
  return bytes;
}

template <class Rule, size_t... A>
absl::Status RunOptimizer(KernelContext& k, std::index_sequence<A...>) {
  using Inputs = StepInputs<Rule>;
  auto* const numbers = k.workspace<typename Rule::template Element<double>>();
  const bool* const skip = k.in<bool>(kSkip);
  FIRN_RETURN_IF_ERROR(MakeStepNumbers<Rule>(k));
  const auto visit = [&](const auto& f) {
    return VisitTables<sizeof...(A)>(k, kFirstParam, Inputs::kCycle, {static_cast<int>(A)...}, f);
  };
  if constexpr (HasSums<Rule>) {
    double* const sums =
        reinterpret_cast<double*>(numbers + (k.num_inputs() - kFirstParam) / Inputs::kCycle);
    FIRN_RETURN_IF_ERROR(visit([&]<class T>(TypeTag<T>, const auto& table) -> absl::Status {
      FIRN_RETURN_IF_ERROR(ForEachChunk(k, table, GatherBody<Rule, T>{table, numbers, skip, sums}));
      return ForEachLine(k, table.count, kChunk, UseSumsBody<Rule>{table, numbers, skip, sums});
    }));
  }
  return visit([&]<class T>(TypeTag<T>, const auto& table) {
    return ForEachChunk(k, table, StepBody<Rule, T>{table, numbers, skip});
  });
}

}  // namespace internal

// The kernels of cpu::OptimizerOp<Rule>.
template <class Rule>
std::vector<Kernel> OptimizerKernels() {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = internal::StepWorkspace<Rule>,
           .run = [](KernelContext& k) {
             return internal::RunOptimizer<Rule>(
                 k, std::make_index_sequence<StepInputs<Rule>::kStates + 2>());
           }}};
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_OPTIMIZER_STEP_CUH_
