// error: deleted function
#include "firn/tensor/ops/reduce/sum.h"

firn::Tensor Kept(const firn::Tensor& x) {
#ifdef MISTAKE
  return firn::Sum(x, true);
#else
  return firn::Sum(x, {}, true);
#endif
}
