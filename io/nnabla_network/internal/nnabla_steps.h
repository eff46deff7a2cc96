#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_STEPS_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/network/node_call.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/shape.h"

namespace firn::io::internal {

// -1 in front of the argument "shape", which is the batch.
bool IsOpen(const nnabla::Argument& argument);
std::vector<nnabla::Argument> WithBatch(std::vector<nnabla::Argument> arguments, int64_t batch);

// One function as a step; `open`: its last input is one that has the batch. If it writes into
// inputs, the first run, which only finds out about shapes, writes into copies.
autograd::Lowering LoweringOf(const NnablaOp& op, const nnabla::Function& function, bool open);

// The step by which a generator fills a variable in each call.
absl::StatusOr<autograd::Step> Generated(const nnabla::GeneratorVariable& generator,
                                         const Shape& shape);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_STEPS_H_
