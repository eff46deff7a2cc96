#ifndef FIRN_TENSOR_TUNING_H_
#define FIRN_TENSOR_TUNING_H_

#include "firn/device/arguments.h"

namespace firn {

// While one lives, kernels that this thread asks whether they take a call (Kernel::supports) may
// run it on memory of their own, several ways, to find the fastest: compiling a graph may take
// time, an ordinary call may not. Such kernels are separate ones that take calls only here, so that
// a graph keeps the choice that was made for it. Scopes nest; the innermost one counts.
class TuningScope {
 public:
  [[nodiscard]] explicit TuningScope(inner::Flag wanted = true);
  ~TuningScope();
  TuningScope(const TuningScope&) = delete;
  TuningScope& operator=(const TuningScope&) = delete;

  // Whether there is one on this thread that wants it.
  static bool Wanted();

 private:
  const bool outer_;
};

}  // namespace firn

#endif  // FIRN_TENSOR_TUNING_H_
