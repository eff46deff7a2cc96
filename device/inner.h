#ifndef FIRN_DEVICE_INNER_H_
#define FIRN_DEVICE_INNER_H_

// Namespace firn holds what programs write. What firn.h has to show beside that stands in
// firn::inner, so that programs may use its names for their own. For Firn's own code and for
// operations written outside, which name both, this header makes one of the two: headers that
// firn.h leads to say inner:: instead, and tests/docs/names_test sees that they do.

namespace firn::inner {}

namespace firn {
using namespace inner;
}  // namespace firn

#endif  // FIRN_DEVICE_INNER_H_
