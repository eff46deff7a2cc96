#ifndef FIRN_TENSOR_INFER_H_
#define FIRN_TENSOR_INFER_H_

// The shape rules of elementwise operations.

#include "firn/tensor/op.h"

namespace firn {

// Output 0 is like input 0.
absl::Status InferLikeInput(InferContext& c);
// Output 0 has the broadcast shape of all inputs and dtype `out`.
absl::Status InferBroadcastAs(InferContext& c, DType out);
// Like the above, with the dtype of input 0, and with bool.
absl::Status InferBroadcast(InferContext& c);
absl::Status InferPredicate(InferContext& c);

}  // namespace firn

#endif  // FIRN_TENSOR_INFER_H_
