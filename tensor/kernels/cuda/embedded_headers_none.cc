// The table of headers in builds without CUDA kernels, which compile no chains: it is empty.
#include "firn/tensor/kernels/cuda/embedded_headers.h"

namespace firn::cuda {

const EmbeddedHeader kEmbeddedHeaders[] = {{}};

}  // namespace firn::cuda
