#ifndef FIRN_AUTOGRAD_FLOPS_H_
#define FIRN_AUTOGRAD_FLOPS_H_

// How many floating-point operations a call takes by the textbook: 2 for each multiply-add of a
// product, whatever the kernel does (Winograd computes fewer). Operations without a rule are not
// counted: what they cost is memory.

#include <optional>
#include <string_view>

#include "firn/autograd/operation_call.h"
#include "firn/tensor/op.h"

namespace firn {

using FlopsFn = double (*)(const KernelQuery& call);

// Nothing for operations without a rule.
std::optional<double> FlopsOf(const OpDef& op, const KernelQuery& call);
// The same for a call that an observer (autograd/observe.h) sees after it has run.
std::optional<double> FlopsOf(const OperationCall& call);

struct FlopsRegistration {
  FlopsRegistration(std::string_view op, FlopsFn rule);
};
// FIRN_REGISTER_FLOPS(linear) { return 2.0 * ...; } on `call`, the specs and attributes.
#define FIRN_REGISTER_FLOPS(stem)                                                                 \
  static double FirnFlops_##stem(const ::firn::KernelQuery& call);                                \
  FIRN_BEFORE_GLOBALS static const ::firn::FlopsRegistration firn_flops_##stem(#stem,             \
                                                                               FirnFlops_##stem); \
  static double FirnFlops_##stem(const ::firn::KernelQuery& call)

}  // namespace firn

#endif  // FIRN_AUTOGRAD_FLOPS_H_
