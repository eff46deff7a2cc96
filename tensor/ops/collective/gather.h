#ifndef FIRN_TENSOR_OPS_COLLECTIVE_GATHER_H_
#define FIRN_TENSOR_OPS_COLLECTIVE_GATHER_H_

#include <cstdint>

#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct AllGatherOptions {
  int64_t group = 0;  // as in AllReduceOptions
};

struct BroadcastOptions {
  int64_t root = 0;   // the rank whose elements all ranks get
  int64_t group = 0;  // as in AllReduceOptions
  template <class V>
  void Visit(V& v) {
    v.Field("root", root);
    v.Field("group", group);
  }
};

namespace inner {
struct AllGatherAttrs {
  int64_t group = 0, ranks = 1;  // the number of ranks in the group
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
// x: [n, ...], of the same shape on all ranks, any dtype   result: [ranks n, ...]
// Its gradient is ReduceScatter. Throws for a number (0-d); view it as [1].
Tensor AllGather(const Tensor& x, const AllGatherOptions& options = {});

// The rank's rows of the sum (mean, ...) over ranks: rank i has rows i n to (i + 1) n - 1 of what
// AllReduce gives (PyTorch's torch.distributed.nn.functional.reduce_scatter).
// x: [ranks n, ...], numbers   result: [n, ...]
// The gradient of a sum is AllGather, that of a mean AllGather divided by the number of ranks.
// Other reductions have no gradient here and throw kUnimplemented where x needs one: take rows of
// AllReduce instead.
Tensor ReduceScatter(const Tensor& x, const AllReduceOptions& options = {});

// The x of rank `root`, on all ranks (PyTorch's torch.distributed.nn.functional.broadcast).
// x: of one shape and dtype on all ranks, any dtype. The gradients of all ranks are summed on the
// root; x gets zeros on the others. Throws kInvalidArgument for a root that is not a rank.
Tensor Broadcast(const Tensor& x, const BroadcastOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COLLECTIVE_GATHER_H_
