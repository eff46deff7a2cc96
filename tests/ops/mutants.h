#ifndef FIRN_TESTS_OPS_MUTANTS_H_
#define FIRN_TESTS_OPS_MUTANTS_H_

#include "tests/ops/calls.h"

namespace firn::testing {

// Runs a call that may well be wrong: it must throw firn::Error or give results (of an operation:
// of the inferred spec), recorded and not, and leave inputs that are not inout as they were. Memory
// is limited meanwhile, so that a mutant asking for terabytes is refused and not served.
void ExpectRefusedOrRight(const Subject& subject, const Call& call);

// Holds the memory limit for the length of a check.
class MemoryLimit {
 public:
  MemoryLimit();
  ~MemoryLimit();
};

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_MUTANTS_H_
