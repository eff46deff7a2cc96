#ifndef FIRN_TENSOR_INTERNAL_OP_CHECKS_H_
#define FIRN_TENSOR_INTERNAL_OP_CHECKS_H_

// The rules for declarations on which Apply, the tape and graphs rely, checked once, when the
// operation registers itself.

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "firn/tensor/op.h"

namespace firn::inner::internal {

// Why `op` cannot be an operation, "" when it can. `stem`: the name given to FIRN_REGISTER_OP.
std::string WhatIsWrong(const OpDef& op, std::string_view stem);

// The same for kernels of any operation.
std::string WhatIsWrong(absl::Span<const Kernel> kernels);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_OP_CHECKS_H_
