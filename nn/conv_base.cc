// ConvBase: shapes and first values of weight and bias. fan_in is counted as PyTorch does, from the
// shape of the weight: for a transposed convolution it is out / groups * kernel.

#include "firn/nn/conv_base.h"

#include <algorithm>
#include <utility>

#include "firn/nn/sizes.h"

namespace firn::nn {

template <class... In>
ConvBaseOf<In...>::ConvBaseOf(Plan plan)
    : plan_(std::move(plan)),
      weight_(this->AddPendingParameter("weight", WeightSizes(plan_.in))),
      bias_(plan_.bias ? this->AddPendingParameter("bias", {plan_.out})
                       : this->AddParameter("bias", {})) {
  CheckSizes(plan_.layer, {{"in", plan_.in, true},
                           {"out", plan_.out},
                           {"kernel", Smallest(plan_.kernel)},
                           {"groups", plan_.groups}});
  CheckGroups(plan_.layer, plan_.in, plan_.out, plan_.groups);
  if (plan_.in != kDeferred) BuildWith(plan_.in);
}

template <class... In>
std::vector<int64_t> ConvBaseOf<In...>::WeightSizes(int64_t in) const {
  const int64_t groups = std::max<int64_t>(plan_.groups, 1);  // otherwise it is refused below
  std::vector<int64_t> sizes = {plan_.out, in / groups};
  if (plan_.transposed) sizes = {in, plan_.out / groups};
  sizes.insert(sizes.end(), plan_.kernel.span().begin(), plan_.kernel.span().end());
  return sizes;
}

template <class... In>
void ConvBaseOf<In...>::Build(const Tensor& x) {
  const bool alone = x.defined() && x.rank() == plan_.kernel.count() + 1;  // without a batch
  BuildWith(SizeOfInput(plan_.layer, x, alone ? 0 : 1));
}

template <class... In>
void ConvBaseOf<In...>::BuildWith(int64_t in) {
  CheckGroups(plan_.layer, in, plan_.out, plan_.groups);
  const Shape shape(WeightSizes(in));
  const auto fan_in = static_cast<int64_t>(init::FansOf(shape).in);
  this->InitPending(weight_, shape, Or(plan_.weight_init, FanInUniform(fan_in)));
  this->InitPending(bias_, {plan_.out}, Or(plan_.bias_init, FanInUniform(fan_in)));
}

template <class... In>
int64_t ConvBaseOf<In...>::in() const {
  if (!inner::HasShape(weight_)) return plan_.in;
  return plan_.transposed ? weight_.size(0) : weight_.size(1) * plan_.groups;
}

template class ConvBaseOf<Tensor>;
template class ConvBaseOf<Tensor, Tensor, Tensor>;

}  // namespace firn::nn
