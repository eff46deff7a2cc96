#include "firn/tensor/internal/kernel_functions.h"

namespace firn::inner::internal {

KernelFunctions kernel_functions;

}  // namespace firn::inner::internal
