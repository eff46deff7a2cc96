#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/index/embedding_bag_body.h"

namespace firn::embedding_bag_cuda {

FIRN_REGISTER_KERNELS(embedding_bag_rows) { return cuda::Portable<BagKernel>(); }

}  // namespace firn::embedding_bag_cuda
