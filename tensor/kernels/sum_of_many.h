#ifndef FIRN_TENSOR_KERNELS_SUM_OF_MANY_H_
#define FIRN_TENSOR_KERNELS_SUM_OF_MANY_H_

// The sum of any number of inputs by elementwise loops over four, on every device: each pass but
// the first adds three more to the sum. Sums of half types stay floats until the last pass.

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/op.h"

namespace firn {

inline constexpr int kSummandsOfPass = 4;

// The type of the sum between passes.
inline TensorSpec SpecOfSum(TensorSpec out) {
  if (out.dtype == DType::kF16 || out.dtype == DType::kBF16) out.dtype = DType::kF32;
  return out;
}

inline size_t WorkspaceOfSum(const KernelQuery& q) {
  const TensorSpec sum = SpecOfSum(q.out());
  return sum.dtype == q.out().dtype || q.num_inputs() <= kSummandsOfPass ? 0 : sum.bytes();
}

// Calls loop.template operator()<Out, First, T>(context, count) for every pass: the sum of the
// first `count` of four inputs, of types First, T, T, T; the others may be read but are ignored.
// Requires: the inputs have elements of T.
template <class T, class Loop>
absl::Status SumOfMany(KernelContext& k, const Loop& loop) {
  using Sum = ComputeOf<T>;
  const TensorSpec spec = SpecOfSum(k.out_spec());
  const TensorSpec single = TensorSpec::Contiguous(k.out_spec().dtype, Shape(), spec.device);
  const bool wider = spec.dtype != k.out_spec().dtype;
  const Operand result = k.operands_out()[0];
  const Operand sum = wider ? Operand{k.workspace(), &spec} : result;
  const auto inputs = static_cast<size_t>(k.num_inputs());
  for (size_t at = 0; at < inputs;) {
    const bool first = at == 0;
    Operand in[kSummandsOfPass];
    int count = 0;
    if (!first) in[count++] = sum;
    while (count < kSummandsOfPass && at < inputs) in[count++] = k.operands_in()[at++];
    for (int i = count; i < kSummandsOfPass; ++i) in[i] = {k.operands_in()[0].data, &single};
    const bool last = at == inputs;
    KernelContext pass(in, {last ? &result : &sum, 1}, k.attrs_ref(), nullptr);
    pass.set_stream(k.stream());
    if (first) {
      FIRN_RETURN_IF_ERROR(last ? loop.template operator()<T, T, T>(pass, count)
                                : loop.template operator()<Sum, T, T>(pass, count));
    } else {
      FIRN_RETURN_IF_ERROR(last ? loop.template operator()<T, Sum, T>(pass, count)
                                : loop.template operator()<Sum, Sum, T>(pass, count));
    }
  }
  return absl::OkStatus();
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_SUM_OF_MANY_H_
