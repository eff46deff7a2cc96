#ifndef FIRN_TENSOR_OPS_REORDER_H_
#define FIRN_TENSOR_OPS_REORDER_H_

#include "tensor/tensor.h"

namespace firn {

struct ReorderAttrs {
  int64_t channel_block = 0;  // 0: row-major
  template <class V>
  void Visit(V& v) {
    v.Field("channel_block", channel_block);
  }
};

// A copy of x in another layout: row-major, or with channels in blocks. Programs need not call it:
// operations arrange their arguments. Graphs have it where they do so once and for all.
Tensor Reorder(const Tensor& x, int64_t channel_block);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REORDER_H_
