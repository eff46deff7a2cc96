#ifndef FIRN_TESTS_OPS_GOLDEN_CALLS_H_
#define FIRN_TESTS_OPS_GOLDEN_CALLS_H_

// Calls of operations with the arguments of a golden case (tests/golden/README.md).

#include <map>
#include <string>

#include "tensor/op.h"
#include "tensor/state_dict.h"
#include "tests/golden/arguments.h"

namespace firn::testing {

// The registered operation on the inputs and attributes of its declaration. Results have the names
// of the declaration; the first is also "y".
StateDict CallOp(const OpDef& op, GoldenArgs& args);

// Calls of functions that are not just one registered operation with the same arguments:
// compositions, and fronts that promote dtypes or work out attributes. By the name of the file.
using GoldenFunction = StateDict (*)(GoldenArgs&);
const std::map<std::string, GoldenFunction>& GoldenFunctions();

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_GOLDEN_CALLS_H_
