#ifndef FIRN_TESTS_DEVICE_FAKE_CUDNN_GRAPH_H_
#define FIRN_TESTS_DEVICE_FAKE_CUDNN_GRAPH_H_

// What the parts of the stand-in for cuDNN's graph API share. Needs CUDA.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "firn/tensor/kernels/cuda/dnn_api.h"

namespace firn::fake {

using Dims4 = std::array<int64_t, 4>;

// A tensor, as its descriptor says it.
struct GraphTensor {
  int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Dims4 sizes{}, strides{};
  int64_t alignment = 1;
  bool between = false, number = false;  // virtual; by value

  int64_t count() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  // The number of elements from the first to the last, including those of other tensors in between.
  int64_t span() const {
    int64_t last = 0;
    for (size_t i = 0; i < 4; ++i) last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }
  int64_t bytes() const { return span() * (type == CUDNN_DATA_FLOAT ? 4 : 2); }
};

struct GraphOperation {
  enum Kind { kMatmul, kPointwise, kReduction, kReshape } kind = kMatmul;
  int mode = 0;  // a cudnnPointwiseMode_t or a cudnnReduceTensorOp_t
  int64_t axis = -1;
  GraphTensor x, b, chosen, y;  // of products x b -> y
  bool has_b = false, has_chosen = false;
};

// Why cuDNN would refuse the operation for its operands, or success.
cudnnStatus_t CheckOperation(const GraphOperation& op);

// Runs operations one after the other. `places`: where tensors lie, by id; numbers among them.
void RunGraph(const std::vector<GraphOperation>& operations,
              const std::map<int64_t, void*>& places);

}  // namespace firn::fake

#endif  // FIRN_TESTS_DEVICE_FAKE_CUDNN_GRAPH_H_
