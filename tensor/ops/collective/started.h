#ifndef FIRN_TENSOR_OPS_COLLECTIVE_STARTED_H_
#define FIRN_TENSOR_OPS_COLLECTIVE_STARTED_H_

// Collectives in place whose data moves while the program goes on. Between the start and the wait
// no code may read or write x, and x must stay alive:
//
//   StartAllReduce(bucket, comm::Reduction::kSum, group);
//   ...                                                      // the backward pass goes on
//   WaitCollective(bucket, group);                           // the sums are there
//
// Both are operations, so a capture records both where they are called, and a frozen graph starts
// and waits there. It keeps the memory of `bucket` from the first to the second, since both write
// into it. If the wait lies outside of the captured run, each run waits at its end; a run that
// fails also waits for the calls that it has started.
//
// x: contiguous, the same handle (or another on the same elements) for both, on
// the same thread. The start throws for other x, for an x whose call is on its way already, and
// with the communicator's errors; WaitCollective throws where nothing was started into x, and with
// the error that ended the call. In a group of one rank both do nothing.

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
  int64_t group = 0, ranks = 1;  // as for the start
  template <class V>
  void Visit(V& v) {
    v.Field("group", group);
    v.Field("ranks", ranks);
  }
};

// x becomes the reduction of all ranks' x, on all ranks. Any numeric dtype; a mean needs floating
// ones.
void StartAllReduce(const Tensor& x, comm::Reduction reduction, int64_t group = 0);
// x becomes that of rank `root`.
void StartBroadcast(const Tensor& x, int64_t root, int64_t group = 0);
// x: [ranks n, ...], of which rank i gives rows i n to (i + 1) n - 1; all rows of all ranks.
void StartAllGather(const Tensor& x, int64_t group = 0);

void WaitCollective(const Tensor& x, int64_t group = 0);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_COLLECTIVE_STARTED_H_
