#ifndef FIRN_TESTS_OPS_CUDA_ROUNDING_H_
#define FIRN_TESTS_OPS_CUDA_ROUNDING_H_

// How far libraries on a GPU may be from the CPU's results, beyond what the suite allows everybody.

#include <string_view>

#include "firn/tensor/tensor.h"
#include "tests/ops/calls.h"

namespace firn::testing {

// TF32 has 10 bits: where the others are cut off, a product of two numbers is off by 2^-9 of itself
// at most. Errors of the products in a sum have nothing to do with each other, so they grow as the
// sum does: in the norm over all results they stay below that share, and none is far beyond it.
void ExpectNearInTf32(const Tensor& got, const Tensor& want);

// Engines of cuDNN may round what they convolve to a half type before they add the bias: by half a
// unit in the last place of the largest at most. 0 for other kernels and calls.
double RoundingBeforeBias(std::string_view kernel, const Call& call, const Tensor& want);

// Whether nothing but rounding may be left of the numbers that a library makes of expanded inputs:
// of a constant line's coefficients, and of the X of A X = B where the rows of a triangle A are
// equal and those of B are. Exactly, x_i is 0 but for one i; rounding leaves up to 2 n u |b| /
// |a_ii| of it, and other numbers in each order of adding up. Of a determinant that is 0 the
// logarithm shows it whatever the dtype, and so do orthonormal vectors of a matrix of rank 1, all
// but one of which could be any.
bool IsAllRounding(std::string_view op, std::string_view kernel, DType dtype);

// What is looked at there instead: what the kernel makes of inputs is, to the bit, what it makes of
// their copies.
void ExpectSameAsOfCopies(const OpDef& on_device, const LayoutVariant& v, Device device);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CUDA_ROUNDING_H_
