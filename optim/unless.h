#ifndef FIRN_OPTIM_UNLESS_H_
#define FIRN_OPTIM_UNLESS_H_

// For optimizers whose Update is written with operations: writes that Step(skip) leaves out. The
// device decides, so a step can be captured, and a `value` that is not wanted, such as infinities
// from a gradient that overflowed, is dropped. If several ranks must leave out the same steps,
// OnAnyRank (tensor/global_number.h) joins their `skip`.

#include "firn/tensor/tensor.h"

namespace firn::optim {

// target = value, unless `skip` (bool, 0-d, on the device of both) is defined and true. `value`: of
// the target's shape, or one that broadcasts to it; converted to its dtype. Throws firn::Error for
// others.
void AssignUnless(const Tensor& skip, const Tensor& target, const Tensor& value);

// Counts a step: step += 1 unless `skip` is defined and true. `step`: Slot::step, i64, 0-d.
void CountUnless(const Tensor& skip, const Tensor& step);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_UNLESS_H_
