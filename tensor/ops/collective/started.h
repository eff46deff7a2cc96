#ifndef FIRN_TENSOR_OPS_COLLECTIVE_STARTED_H_
#define FIRN_TENSOR_OPS_COLLECTIVE_STARTED_H_

// Collectives in place whose data moves while the program goes on. Between the start and the wait
// nobody may read or write x, and x must stay:
//
//   StartAllReduce(bucket, comm::Reduction::kSum, group);
//   ...                                                      // the backward pass goes on
//   WaitCollective(bucket, group);                           // the sums are there
//
// Both are operations, so a capture records both where they are called, and a frozen graph starts
// and waits there. It keeps the memory of `bucket` from the first to the second, since both write
// into it. A start whose wait lies outside of the captured run is waited for at the end of each
// run; a run that fails waits for what it has started, too.
//
// x: contiguous, the same handle (or another on the same elements) for both, on
// the same thread. Throws for others, for what is on its way already, and what the communicator
// refuses; WaitCollective where nothing was started into x, and with the error that ended the call.
// In a group of one rank both do nothing.

#include <cstdint>

#include "firn/device/comm/kinds.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

struct StartCollectiveAttrs {
  comm::CollectiveKind kind = comm::CollectiveKind::kAllReduce;
  comm::Reduction reduction = comm::Reduction::kSum;  // of an all_reduce
  int64_t root = 0;                                   // of a broadcast
  int64_t group = 0;                                  // device/comm/groups.h
  int64_t ranks = 1;                                  // of the group
  template <class V>
  void Visit(V& v) {
    v.Field("kind", kind);
    v.Field("reduction", reduction);
    v.Field("root", root);
    v.Field("group", group);
    v.Field("ranks", ranks);
  }
};

struct WaitCollectiveAttrs {
  int64_t group = 0, ranks = 1;  // as of the start
  template <class V>
  void Visit(V& v) {
    v.Field("group", group);
    v.Field("ranks", ranks);
  }
};

// x: on all ranks what the reduction of their x's is. A number of any dtype, a mean of floating
// ones alone.
void StartAllReduce(const Tensor& x, comm::Reduction reduction, int64_t group = 0);
// x: that of rank `root`.
void StartBroadcast(const Tensor& x, int64_t root, int64_t group = 0);
// x: [ranks n, ...], of which rank i gives rows i n to (i + 1) n - 1; all rows of all ranks.
void StartAllGather(const Tensor& x, int64_t group = 0);

void WaitCollective(const Tensor& x, int64_t group = 0);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_COLLECTIVE_STARTED_H_
