#ifndef FIRN_DEVICE_INNER_H_
#define FIRN_DEVICE_INNER_H_

// Namespace firn holds what programs write. Other names that firn.h has to declare are in
// firn::inner, so that programs may use them for their own things. This header joins the two
// namespaces for Firn's own code and for operations written outside. Headers that firn.h includes
// write inner:: instead, which tests/docs/names_test checks.

namespace firn::inner {}

namespace firn {
using namespace inner;
}  // namespace firn

#endif  // FIRN_DEVICE_INNER_H_
