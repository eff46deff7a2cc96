// error: deleted function
#include "firn/tensor/ops/reduce/sum.h"

firn::Tensor MeanOverTwo(const firn::Tensor& x) {
#ifdef MISTAKE
  return firn::Mean(x, 2, 3);
#else
  return firn::Mean(x, {2, 3});
#endif
}
