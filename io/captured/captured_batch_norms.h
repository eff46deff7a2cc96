#ifndef FIRN_IO_CAPTURED_CAPTURED_BATCH_NORMS_H_
#define FIRN_IO_CAPTURED_CAPTURED_BATCH_NORMS_H_

#include <cstddef>
#include <map>

#include "firn/autograd/graph/graph.h"

namespace firn::io::internal {

// A batch norm in evaluation mode, which scales and shifts the channels by running statistics.
struct CapturedBatchNorm {
  ValueId weight = kNoValue, bias = kNoValue;
  ValueId mean = kNoValue, variance = kNoValue;
  double eps = 0;
};

// By the positions of their channel_affine operations, whose input 0 is what is normalized. The
// operations that computed scale and shift stay where they are.
std::map<size_t, CapturedBatchNorm> FindBatchNorms(const Graph& graph);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_BATCH_NORMS_H_
