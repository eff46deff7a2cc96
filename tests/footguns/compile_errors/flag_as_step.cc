// error: no matching function for call to
#include "firn/tensor/ops/create/range.h"

firn::Tensor Counted() {
#ifdef MISTAKE
  return firn::Arange(0, 10, true);
#else
  return firn::Arange(0, 10, 1);
#endif
}
