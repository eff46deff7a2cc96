#ifndef FIRN_TESTS_OPS_GOLDEN_CALLS_H_
#define FIRN_TESTS_OPS_GOLDEN_CALLS_H_

// Calls with the arguments of a golden case (tests/golden/README.md).

#include <string>

#include "firn/tensor/state_dict.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {

// Whether Call knows how to call `name`: an operation or composite with a function, or one that has
// an adapter.
bool IsCallable(const std::string& name);
// The adapter of that name or, where there is none, the function that users call, on the inputs and
// attributes of its declaration. Results have the names of the declaration; the first is also "y",
// those of a list are "y.0", "y.1", ...
StateDict Call(const std::string& name, GoldenArgs& args);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_GOLDEN_CALLS_H_
