#ifndef FIRN_TENSOR_OPS_RANDPERM_H_
#define FIRN_TENSOR_OPS_RANDPERM_H_

#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct RandpermAttrs {
  int64_t n = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
  }
};
}  // namespace inner

// The numbers 0 to n - 1 in random order, i64 [n]; all orders are equally likely. Throws when n is
// negative.
Tensor Randperm(int64_t n, const RandomOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDPERM_H_
