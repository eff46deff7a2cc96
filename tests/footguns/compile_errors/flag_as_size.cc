// error: deleted function
#include "firn/tensor/sizes.h"

firn::Sizes Kernel() {
#ifdef MISTAKE
  return true;
#else
  return 1;
#endif
}
