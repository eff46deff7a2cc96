#ifndef FIRN_TENSOR_OPS_COLLECTIVE_ALL_REDUCE_H_
#define FIRN_TENSOR_OPS_COLLECTIVE_ALL_REDUCE_H_

#include <cstdint>

#include "firn/device/comm/kinds.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Operations that several ranks (processes or threads, device/comm/communicator.h) call together,
// each as often and in the same order as the others. `group` is a number: 0 the world that the
// program has set (comm::SetWorld, comm::WorldScope), others of a comm::Group; a program that has
// set no world is the only rank. Memory of a CUDA device goes through NCCL, behind what is queued
// on the device (device/comm/nccl_ranks.h): all ranks have x on such a device, each on one of its
// own. They throw kNotFound for a number that no group has, or where there is no NCCL, and with the
// communicator's error where ranks make different calls or one of them does not come; on a device
// the error may first come with a read of the result.
struct AllReduceOptions {
  comm::Reduction reduction = comm::Reduction::kSum;
  int64_t group = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("group", group);
  }
};

// Element by element the sum (or mean, product, smallest, largest) of what all ranks have in x,
// the same bits on all of them (PyTorch's torch.distributed.nn.functional.all_reduce). Half types
// are summed in f32 and rounded once, on CUDA devices by NCCL's rules. x: numbers of any dtype; for
// a mean, floating.
//
// Gradients, where L is the sum of the ranks' losses: for a sum or a mean, the same reduction of
// the gradient; for the smallest or the largest, the sum of the gradients, shared evenly by ranks
// that tie, as for Amax; for a product, the sum of the gradients times the product of the others.
Tensor AllReduce(const Tensor& x, const AllReduceOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COLLECTIVE_ALL_REDUCE_H_
