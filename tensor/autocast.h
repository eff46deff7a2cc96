#ifndef FIRN_TENSOR_AUTOCAST_H_
#define FIRN_TENSOR_AUTOCAST_H_

#include "firn/tensor/dispatch.h"
#include "firn/tensor/tensor.h"

namespace firn {

// While one lives on a thread, convolutions and products of matrices compute in a half type there,
// and losses, normalisations, sums and functions of a wide range in f32; everything else computes
// in the dtype of its inputs (the lists are PyTorch's, torch.amp.autocast), and so does batch
// normalisation, which takes half images with f32 parameters. Parameters stay f32: a tensor that is
// converted for a call goes through the operation `cast`, whose gradient is f32 again. f64 and
// integer tensors are left alone.
//
//   Tensor loss;
//   {
//     AutocastScope autocast(DType::kBF16);
//     loss = CrossEntropy(net(x), labels);
//   }
//   loss.Backward();  // outside: gradients have the dtypes of what they are the gradients of
//
// With kF16 small gradients vanish below 6e-8: use optim::LossScaler. Scopes nest, the innermost
// counts. Works in captures, which record the conversions.
class AutocastScope final : private inner::Autocaster {
 public:
  // kF16 or kBF16; kF32 turns autocast off inside another scope.
  // Throws kInvalidArgument for any other dtype.
  [[nodiscard]] explicit AutocastScope(DType dtype);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  DType dtype() const override { return dtype_; }
  Tensor Convert(const Tensor& x, DType dtype) override;

  const DType dtype_;
  inner::Autocaster* const outer_;
};

}  // namespace firn

#endif  // FIRN_TENSOR_AUTOCAST_H_
