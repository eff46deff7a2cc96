#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

void AddCopies(Samples& s) {
  s.Reference([](double x) { return x; });
  s.Add("a vector", {Normal({7})});
  s.Add("a matrix", {Normal({3, 5})});
  s.Add("a scalar", {Normal({})});
  s.Add("nothing", {Normal({0, 3})});
  s.Add("channels", {Normal({2, 8, 3, 3})});
  s.Add("integers", {Integers({5}, -9, 9)});
  s.Add("bool", {Booleans({5})});
  s.AddLarge("4M", {Normal({2048, 2048})}, {}, 0, 33.6e6);
  s.AddError("undefined", {Tensor()}, {}, "x is an undefined tensor");
}

FIRN_REGISTER_SAMPLES(clone) {
  s.Function<Clone>();
  AddCopies(s);
}

FIRN_REGISTER_SAMPLES(contiguous) {
  s.Function<Contiguous>();
  AddCopies(s);
}

FIRN_REGISTER_SAMPLES(identity) {
  s.Function<Identity>();
  s.Reference([](double x) { return x; });
  s.Add("matrix", {Normal({3, 5})});
  s.Add("channels", {Normal({2, 8, 3})});
  s.Add("a scalar", {Normal({})});
  s.Add("nothing", {Normal({0, 3})});
  s.Add("integers", {Integers({3}, -9, 9)});
}

FIRN_REGISTER_COMPOSITE(detach) {
  s.Declare({{.name = "x"}}, {{.name = "y", .same_dtype_as = "x", .constant = true}});
  s.Function<Detach>();
  s.Reference([](double x) { return x; });
  s.Add("a matrix", {Normal({3, 5})});
  s.Add("integers", {Integers({5}, -9, 9)});
  s.Add("bool", {Booleans({5})});
}

}  // namespace
}  // namespace firn::testing
