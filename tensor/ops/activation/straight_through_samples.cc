#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(straight_through) {
  s.Function<StraightThrough>();
  s.Reference([](double y, double) { return y; });
  s.gradient_is_derivative = false;  // tests/tensor/straight_through_test
  s.WithoutVectors("PyTorch does not have it");
  AddBinary(s, Normal, Normal);
}

}  // namespace
}  // namespace firn::testing
