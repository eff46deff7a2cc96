#ifndef FIRN_TENSOR_OPS_RANDOM_RANDOM_RULES_H_
#define FIRN_TENSOR_OPS_RANDOM_RANDOM_RULES_H_

// Parts shared by random operations on every device.

#include "firn/tensor/op.h"

namespace firn {

// The declaration of a generator's state as an argument.
inline ArgDecl GeneratorState() {
  return {
      .name = "state", .dtypes = SetOf(DType::kI64), .min_rank = 1, .max_rank = 1, .inout = true};
}
// An error unless input i can be a generator's state.
inline absl::Status CheckState(const InferContext& c, int i) {
  FIRN_RETURN_IF(c.shape(i)[0] != 2, InvalidArgument("state ", c.shape(i).ToString(),
                                                     " is not a generator's {seed, offset}"));
  return absl::OkStatus();
}

// The shape rule of an operation that has a state and a shape: output 0 of dtype `dtype`, which
// must be in `allowed`.
inline absl::Status InferRandom(InferContext& c, const Dims& sizes, DType dtype, DTypeSet allowed) {
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  const auto number = static_cast<unsigned>(dtype);
  FIRN_RETURN_IF(
      number >= static_cast<unsigned>(kNumDTypes) || !Contains(allowed, dtype),
      InvalidArgument(
          "dtype must be ", DTypeNames(allowed), ", got ",
          number < static_cast<unsigned>(kNumDTypes) ? DTypeName(dtype) : "a number that is none"));
  c.set_out(0, dtype, shape);
  return absl::OkStatus();
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_RANDOM_RULES_H_
