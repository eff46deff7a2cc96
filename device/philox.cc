// The process-wide generator, never destroyed so that initialisers of globals may draw at any time.
#include "device/philox.h"

#include "device/environment.h"

namespace firn {

Generator& DefaultGenerator() {
  static Generator* const generator = new Generator(env::Seed());
  return *generator;
}

void SetSeed(uint64_t seed) { DefaultGenerator().SetSeed(seed); }

}  // namespace firn
