#ifndef FIRN_TENSOR_INTERNAL_OP_CHECKS_H_
#define FIRN_TENSOR_INTERNAL_OP_CHECKS_H_

// What a declaration must be for Apply, the tape and graphs to rely on it, checked once, when the
// operation registers itself.

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "firn/tensor/op.h"

namespace firn::inner::internal {

// Why `op` cannot be an operation, "" when it can. `stem`: as FIRN_REGISTER_OP has it.
std::string WhatIsWrong(const OpDef& op, std::string_view stem);

// The same of kernels, whichever operation's they are.
std::string WhatIsWrong(absl::Span<const Kernel> kernels);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_OP_CHECKS_H_
