// Linear: parameters of firn::Linear, started as PyTorch does (Kaiming uniform with a = sqrt(5),
// which is uniform within 1 / sqrt(fan_in)).

#include "firn/nn/linear.h"

#include "firn/nn/describe.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/linear/linear.h"

namespace firn::nn {

Linear::Linear(const Options& options)
    : options_(options),
      weight_(AddPendingParameter("weight", {options.out, options.in})),
      bias_(options.bias ? AddPendingParameter("bias", {options.out}) : AddParameter("bias", {})) {
  CheckSizes("nn::Linear", {{"in", options.in, true}, {"out", options.out}});
  if (options.in != kDeferred) Build(options.in);
}

void Linear::Build(int64_t in) {
  InitPending(weight_, {options_.out, in}, Or(options_.weight_init, FanInUniform(in)));
  InitPending(bias_, {options_.out}, Or(options_.bias_init, FanInUniform(in)));
}

Tensor Linear::Forward(const Tensor& x) {
  if (IsPending(weight_) || IsPending(bias_)) [[unlikely]]
    Build(SizeOfInput("nn::Linear", x, -1));
  return firn::Linear(x, weight_, bias_);
}

std::string Linear::Describe() const {
  Describer d;
  d.FromTo(IsPending(weight_) ? options_.in : weight_.size(1), options_.out);
  d.Field("bias", options_.bias, true);
  return d.text();
}

int64_t Linear::MultiplyAdds(const Shape&, const Shape& output) const {
  return output.num_elements() * weight_.size(1);
}

}  // namespace firn::nn
