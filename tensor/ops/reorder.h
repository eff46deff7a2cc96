#ifndef FIRN_TENSOR_OPS_REORDER_H_
#define FIRN_TENSOR_OPS_REORDER_H_

#include <cstdint>

namespace firn::inner {

// Of the operation reorder: a copy of x in another layout, row-major or with channels in blocks. No
// function calls it: Apply arranges arguments, and graphs have it where they do so once for all.
struct ReorderAttrs {
  int64_t channel_block = 0;  // 0: row-major
  template <class V>
  void Visit(V& v) {
    v.Field("channel_block", channel_block);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_REORDER_H_
