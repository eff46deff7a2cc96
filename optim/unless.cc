// A choice between the new value and the old one, element by element: nothing is read here.

#include "firn/optim/unless.h"

#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::optim {

void AssignUnless(const Tensor& skip, const Tensor& target, const Tensor& value) {
  const Tensor next = Cast(value, target.dtype());
  inner::Assign(target, skip.defined() ? Where(skip, target, next) : next);
}

void CountUnless(const Tensor& skip, const Tensor& step) { AssignUnless(skip, step, Add(step, 1)); }

}  // namespace firn::optim
