#ifndef FIRN_NN_QUANTIZED_WEIGHTS_H_
#define FIRN_NN_QUANTIZED_WEIGHTS_H_

// What the quantized layers share.

#include "firn/nn/quantized/observers.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::quantized::internal {

// Of each index of dimension 0 by its largest |w|, from -127 to 127.
struct Weights {
  Tensor values, scale;  // i8; f32 [w.size(0)], 1 where all are 0
};
Weights WeightsOf(const Tensor& w);

// Throws unless it is i8 or u8.
void CheckInputDType(DType dtype, const char* layer);
// Throws unless `from` and `to` have one shape, or are both absent, and `input` has that dtype.
void CheckTaken(const Tensor& from, const Tensor& to, const char* what, const char* layer);
void CheckTaken(const Quantization& input, DType dtype, const char* layer);

// Writes the elements of a buffer.
void Write(Tensor& buffer, const Tensor& values);

}  // namespace firn::nn::quantized::internal

#endif  // FIRN_NN_QUANTIZED_WEIGHTS_H_
