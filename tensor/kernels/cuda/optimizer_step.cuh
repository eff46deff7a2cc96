#ifndef FIRN_TENSOR_KERNELS_CUDA_OPTIMIZER_STEP_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_OPTIMIZER_STEP_CUH_

// The operation of a rule (kernels/optimizer_rule.h) on CUDA: the numbers of every parameter's
// step, then all elements in chunks.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/status_macros.h"
#include "tensor/kernels/cuda/multi_tensor.cuh"
#include "tensor/kernels/functor.h"
#include "tensor/kernels/optimizer_rule.h"
#include "tensor/op.h"

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

// To the workspace, numbers for each parameter.
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

template <class Rule, class T>
struct StepBody {
  static constexpr size_t kStates = StepInputs<Rule>::kStates;
  static constexpr int kState = StepInputs<Rule>::kState;

  TensorTable<kStates + 2> table;  // parameters, gradients, state (null: not given)
  const typename Rule::template Element<double>* numbers;
  const bool* skip;  // may be null

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    using C = ComputeOf<T>;
    if (skip != nullptr && *skip) return;
    const Piece piece = table.PieceOf(chunk);
    void* const* const arrays = table.arrays[piece.entry];
    T* const p = static_cast<T*>(arrays[0]);
    const T* const g = static_cast<const T*>(arrays[1]);
    unsigned given = 0;
    for (size_t s = 0; s < kStates; ++s) given |= arrays[kState + s] != nullptr ? 1u << s : 0u;
    const auto move = ElementAs<Rule, C>(numbers[table.id[piece.entry]]);
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      C x = static_cast<C>(p[i]), state[kStates] = {};
#pragma unroll
      for (size_t s = 0; s < kStates; ++s) {
        if ((given >> s & 1u) != 0) state[s] = static_cast<C>(At(arrays, s)[i]);
      }
      move(x, static_cast<C>(g[i]), state, given);
#pragma unroll
      for (size_t s = 0; s < kStates; ++s) {
        if ((given >> s & 1u) != 0) At(arrays, s)[i] = static_cast<T>(state[s]);
      }
      p[i] = static_cast<T>(x);
    }
  }

 private:
  FIRN_HOST_DEVICE static T* At(void* const* arrays, size_t state) {
    return static_cast<T*>(arrays[kState + state]);
  }
};

template <class Rule>
size_t StepWorkspace(const KernelQuery& q) {
  return static_cast<size_t>(q.num_inputs() / StepInputs<Rule>::kCycle) *
         sizeof(typename Rule::template Element<double>);
}

template <class Rule, size_t... A>
absl::Status RunOptimizer(KernelContext& k, std::index_sequence<A...>) {
  FIRN_RETURN_IF_ERROR(MakeStepNumbers<Rule>(k));
  return VisitTables<sizeof...(A)>(
      k, kFirstParam, StepInputs<Rule>::kCycle, {static_cast<int>(A)...},
      [&]<class T>(TypeTag<T>, const auto& table) {
        const StepBody<Rule, T> body = {
            table, k.workspace<typename Rule::template Element<double>>(), k.in<bool>(kSkip)};
        return ForEachChunk(k, table, body);
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
