#ifndef FIRN_NN_QUANTIZED_WEIGHTS_H_
#define FIRN_NN_QUANTIZED_WEIGHTS_H_

// Helpers that the quantized layers share.

#include "firn/tensor/observers.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::quantized::internal {

// Each index of dimension 0 is scaled by its largest |w|, from -127 to 127.
struct Weights {
  Tensor values, scale;  // i8; f32 [w.size(0)], 1 where all are 0
};
// Throws unless all are finite.
Weights WeightsOf(const Tensor& w, const char* layer);

// Throws unless it is i8 or u8.
void CheckInputDType(DType dtype, const char* layer);
// Throws unless `from` and `to` have one shape, or are both absent.
void CheckTaken(const Tensor& from, const Tensor& to, const char* what, const char* layer);
// Throws unless `input` has that dtype, a zero point that the dtype holds, and a scale above 0.
void CheckTaken(const Quantization& input, DType dtype, const char* layer);

// The scale of sums of products: f32 if the sums are of a half type, which could not hold it.
Tensor ScaleOf(const Tensor& weight_scale, const Tensor& input_scale);

// Writes the elements of a buffer.
void Write(Tensor& buffer, const Tensor& values);

}  // namespace firn::nn::quantized::internal

#endif  // FIRN_NN_QUANTIZED_WEIGHTS_H_
