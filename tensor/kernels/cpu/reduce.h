#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCE_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCE_H_

#include "device/parallel.h"
#include "tensor/op.h"
#include "tensor/reduction.h"

namespace firn::cpu {

// The dimensions of a reduction's input, split into those that stay and those that go, with strides
// in elements.
struct ReducePlan {
  Dims kept_sizes, kept_strides, reduced_sizes, reduced_strides;
  int64_t kept = 1, reduced = 1;
};
ReducePlan PlanReduction(const TensorSpec& in, const ReduceAttrs& attrs);

// The element offset of the i-th of `sizes` counted row-major.
inline int64_t OffsetOf(int64_t i, const Dims& sizes, const Dims& strides) {
  int64_t offset = 0;
  for (int d = sizes.rank - 1; d >= 0; --d) {
    offset += (i % sizes[d]) * strides[d];
    i /= sizes[d];
  }
  return offset;
}

// out[j] = combine over the reduced elements of in, from `init`; accumulates in Acc.
template <class Out, class In, class Acc, class Combine>
void Reduce(KernelContext& k, Acc init, const Combine& combine) {
  const ReducePlan p = PlanReduction(k.in_spec(0), k.attrs<ReduceAttrs>());
  const In* in = k.in<In>(0);
  Out* out = k.out<Out>();
  ParallelFor(p.kept, std::max<int64_t>(1, 16384 / std::max<int64_t>(p.reduced, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t j = begin; j < end; ++j) {
                  const In* base = in + OffsetOf(j, p.kept_sizes, p.kept_strides);
                  Acc acc = init;
                  for (int64_t i = 0; i < p.reduced; ++i) {
                    const In v = base[OffsetOf(i, p.reduced_sizes, p.reduced_strides)];
                    acc = combine(acc, static_cast<Acc>(v));
                  }
                  out[j] = static_cast<Out>(acc);
                }
              });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCE_H_
