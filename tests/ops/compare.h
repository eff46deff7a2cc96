#ifndef FIRN_TESTS_OPS_COMPARE_H_
#define FIRN_TESTS_OPS_COMPARE_H_

#include <gtest/gtest.h>

#include <vector>

#include "firn/tensor/tensor.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

struct Tolerance {
  double rtol = 0, atol = 0;  // |got - want| <= atol + rtol * |want|
};

// For a result of `result` computed from `inputs`: the looser of the result's dtype and of the one
// that kernels compute in (float below f64). Integers and bool: exact.
Tolerance ToleranceFor(const Samples& samples, DType result, const std::vector<Tensor>& inputs);

// The tolerance for values that several operations compute, a dozen at most, each of which rounds:
// some errors are relative to the largest value.
Tolerance OfSeveral(const Tolerance& one, const std::vector<double>& want);

// Element by element; NaN equals NaN, and a reference beyond the dtype's range equals infinity.
::testing::AssertionResult Near(const Tensor& got, const RefTensor& want, Tolerance tolerance);
::testing::AssertionResult Near(const Tensor& got, const Tensor& want, Tolerance tolerance);

// Same spec up to strides, and the same bits except for NaNs, whose sign and payload are undefined.
::testing::AssertionResult SameBits(const Tensor& a, const Tensor& b);

// The bytes of the whole storage, for telling whether anything was written.
std::vector<unsigned char> BytesOf(const Tensor& t);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_COMPARE_H_
