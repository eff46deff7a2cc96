#include "tensor/ops/identity.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(identity) {
  s.Reference([](double x) { return x; });
  s.Add("matrix", {Normal({3, 5})});
  s.Add("channels", {Normal({2, 8, 3})});
  s.Add("a scalar", {Normal({})});
  s.Add("nothing", {Normal({0, 3})});
  s.Add("integers", {Integers({3}, -9, 9)});
}

}  // namespace firn::testing
