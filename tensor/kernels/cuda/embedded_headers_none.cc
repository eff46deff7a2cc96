// The table of headers in builds without CUDA kernels, which compile no rows: it is empty.
#include "tensor/kernels/cuda/embedded_headers.h"

namespace firn::cuda {

const EmbeddedHeader kEmbeddedHeaders[] = {{}};

}  // namespace firn::cuda
