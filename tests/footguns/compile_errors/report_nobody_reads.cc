// warning: nodiscard
#include "firn/nn/linear.h"

void Load(firn::nn::Linear& fc, const firn::StateDict& state) {
  fc.LoadStateDict(state);  // all fits, or it throws
#ifdef MISTAKE
  fc.LoadStateDict(state, {.strict = false});
#else
  static_cast<void>(fc.LoadStateDict(state, {.strict = false}));
#endif
}
