#ifndef FIRN_TENSOR_OPS_COLLECTIVE_GATHER_H_
#define FIRN_TENSOR_OPS_COLLECTIVE_GATHER_H_

#include <cstdint>

#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct AllGatherOptions {
  int64_t group = 0;  // as of AllReduceOptions
};

struct BroadcastOptions {
  int64_t root = 0;   // the rank whose elements all get
  int64_t group = 0;  // as of AllReduceOptions
  template <class V>
  void Visit(V& v) {
    v.Field("root", root);
    v.Field("group", group);
  }
};

namespace inner {
struct AllGatherAttrs {
  int64_t group = 0, ranks = 1;  // how many the group has
  template <class V>
  void Visit(V& v) {
    v.Field("group", group);
    v.Field("ranks", ranks);
  }
};
struct ReduceScatterAttrs {
  comm::Reduction reduction = comm::Reduction::kSum;
  int64_t group = 0, ranks = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("group", group);
    v.Field("ranks", ranks);
  }
};

// On rank `root` the sum of all ranks' x, zeros on the others: the gradient of Broadcast.
Tensor ReduceToRoot(const Tensor& x, const BroadcastOptions& options);
}  // namespace inner

// The x's of all ranks, one behind the other along dimension 0 in the order of the ranks (PyTorch's
// all_gather_into_tensor; its gradient is that of torch.distributed.nn.functional.all_gather).
// x: [n, ...], of one shape on all ranks and any dtype   result: [ranks n, ...]
// Its gradient is ReduceScatter. Throws for a number (0-d); view it as [1].
Tensor AllGather(const Tensor& x, const AllGatherOptions& options = {});

// The rank's rows of the sum (mean, ...) over ranks: rank i has rows i n to (i + 1) n - 1 of what
// AllReduce gives (PyTorch's torch.distributed.nn.functional.reduce_scatter).
// x: [ranks n, ...], numbers   result: [n, ...]
// The gradient of a sum is AllGather, of a mean that divided by the ranks; the others have none
// here and throw kUnimplemented where x needs one: take rows of AllReduce.
Tensor ReduceScatter(const Tensor& x, const AllReduceOptions& options = {});

// What rank `root` has in x, on all ranks (PyTorch's torch.distributed.nn.functional.broadcast).
// x: of one shape and dtype on all ranks, any dtype. The gradients of all ranks are summed on the
// root; x gets zeros on the others. Throws kInvalidArgument for a root that is no rank.
Tensor Broadcast(const Tensor& x, const BroadcastOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COLLECTIVE_GATHER_H_
