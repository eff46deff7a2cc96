// Prelu: all slopes start at one value.

#include "firn/nn/prelu.h"

#include "firn/nn/sizes.h"
#include "firn/tensor/ops/activation/rectifiers.h"

namespace firn::nn {

Prelu::Prelu(const Options& options)
    : LayerWithOptions(options), weight_(AddPendingParameter("weight", {options.count})) {
  CheckSizes("nn::Prelu", {{"count", options.count}});
  InitPending(weight_, {options.count}, init::Constant(options.init));
}

Tensor Prelu::Forward(const Tensor& x) { return firn::Prelu(x, weight_); }

}  // namespace firn::nn
