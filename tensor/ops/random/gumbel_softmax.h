#ifndef FIRN_TENSOR_OPS_RANDOM_GUMBEL_SOFTMAX_H_
#define FIRN_TENSOR_OPS_RANDOM_GUMBEL_SOFTMAX_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct GumbelSoftmaxOptions {
  double tau = 1;     // a lower tau gives results nearer to one-hot vectors
  bool hard = false;  // one-hot vectors, with the gradient of the soft ones
  int64_t dim = -1;
  RandomGenerator* generator = nullptr;  // null: the device's default generator
};

// Samples of a relaxed categorical distribution (Jang et al., 2017; Maddison et al., 2017;
// torch.nn.functional.gumbel_softmax): Softmax((logits + g) / tau) along `dim`, with a draw g of
// the Gumbel distribution for each element. `hard` gives 1 at the largest and 0 elsewhere, and
// passes gradients straight through. Floating logits. Throws unless tau is above 0, and when dim is
// out of range.
Tensor GumbelSoftmax(const Tensor& logits, const GumbelSoftmaxOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_GUMBEL_SOFTMAX_H_
