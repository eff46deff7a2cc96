// warning: nodiscard
#include "firn/tensor/dispatch.h"

void Look() {
#ifdef MISTAKE
  firn::NoGradScope();
#else
  const firn::NoGradScope no_grad;
#endif
}
