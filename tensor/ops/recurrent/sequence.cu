#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/recurrent/sequence_body.h"

namespace firn::sequence_cuda {

FIRN_REGISTER_KERNELS(reverse_sequence) { return cuda::Portable<ReverseSequenceKernel>(); }

}  // namespace firn::sequence_cuda
