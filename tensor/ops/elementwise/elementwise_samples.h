#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_ELEMENTWISE_SAMPLES_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_ELEMENTWISE_SAMPLES_H_

// The samples that all elementwise operations have in common. Test code only.

#include <vector>

#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// The reference of an elementwise operation with several inputs or with options: f gets one element
// of each input, broadcast, and NaN for an absent one.
void ElementReference(Samples& s, double (*f)(const double* in, AttrsRef attrs));

// Inputs drawn for each sample: Normal, or one that keeps clear of poles and kinks.
using Draw = Tensor (*)(const Shape& shape, uint64_t seed);
// Multiples of 1/16 offset by 1/32: no ties, not 0, exact in every floating dtype but bf16.
Tensor Grid(const Shape& shape, uint64_t seed);
// Between 0.25 and 2.25.
Tensor Positive(const Shape& shape, uint64_t seed);

// One input of ranks 0 to 4 (8 channels, so that it may be blocked), an empty one, a large one, and
// an undefined one as an error.
void AddUnary(Samples& s, Draw draw, AttrsRef attrs = {});
// The reference and all samples of a function of a floating tensor: those of AddUnary, integers as
// an error, and zeros, infinities, NaN and `edges`, where no gradient is looked at.
void AddFloatUnary(Samples& s, double (*f)(double), Draw draw, std::vector<double> edges = {});
// Two inputs, equal and broadcast, with the errors of two inputs.
void AddBinary(Samples& s, Draw draw_x, Draw draw_y, AttrsRef attrs = {});
// dy and a saved value of the same shape.
void AddGradient(Samples& s, Draw draw_saved, AttrsRef attrs = {});

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_ELEMENTWISE_SAMPLES_H_
