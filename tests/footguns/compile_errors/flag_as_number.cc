// error: deleted function
#include "firn/tensor/ops/random/dropout.h"

firn::Tensor Dropped(const firn::Tensor& x) {
#ifdef MISTAKE
  return firn::Dropout(x, true);
#else
  return firn::Dropout(x, 0.5, true);
#endif
}
