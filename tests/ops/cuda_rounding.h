#ifndef FIRN_TESTS_OPS_CUDA_ROUNDING_H_
#define FIRN_TESTS_OPS_CUDA_ROUNDING_H_

// How far results of libraries on a GPU may be from the CPU's, beyond the general tolerances of the
// suite.

#include <string_view>

#include "firn/tensor/tensor.h"
#include "tests/ops/calls.h"

namespace firn::testing {

// TF32 has 10 bits: if the others are cut off, a product of two numbers is off by 2^-9 of itself at
// most. Errors of the products in a sum are independent, so they grow as the sum does: in the norm
// over all results they stay below that share, and no single one is far beyond it.
void ExpectNearInTf32(const Tensor& got, const Tensor& want);

// Engines of cuDNN may round what they convolve to a half type before they add the bias: by half a
// unit in the last place of the largest at most. 0 for other kernels and calls.
double RoundingBeforeBias(std::string_view kernel, const Call& call, const Tensor& want);

// Whether a library's results for expanded inputs may consist of rounding alone: the coefficients
// of a constant line, and the X of A X = B if the rows of a triangle A are equal and so are those
// of B. Exactly, x_i is 0 but for one i; rounding leaves up to 2 n u |b| / |a_ii| of it, which
// depends on the order of adding up. In every dtype the logarithm of a determinant that is 0 is
// such a result, and so are orthonormal vectors of a matrix of rank 1, all but one of which could
// be any.
bool IsAllRounding(std::string_view op, std::string_view kernel, DType dtype);

// The check for such results: the kernel gives the same bits for inputs and for their copies.
void ExpectSameAsOfCopies(const OpDef& on_device, const LayoutVariant& v, Device device);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CUDA_ROUNDING_H_
