#ifndef FIRN_NN_QUANTIZED_FAKE_QUANTIZE_H_
#define FIRN_NN_QUANTIZED_FAKE_QUANTIZE_H_

#include "firn/nn/layer.h"
#include "firn/tensor/observers.h"

namespace firn::nn::quantized {

struct FakeQuantizeOptions {
  DType dtype = DType::kU8;  // i8 or u8
  bool symmetric = false;    // the zero point is the middle: 0 of i8, 128 of u8
  double averaging = 0.01;   // range = (1 - averaging) range + averaging batch
  template <class V>
  void Visit(V& v) {
    v.Field("dtype", dtype);
    v.Field("symmetric", symmetric);
    v.Field("averaging", averaging);
  }
};

// Training for quantization (Jacob et al., 2018; PyTorch's FakeQuantize with a
// MovingAverageMinMaxObserver): x is rounded as it will be when it is quantized, by one scale and
// one zero point. In training mode the range follows the smallest and largest numbers of batches,
// and begins with those of the first one; in evaluation mode it stays. Gradients are those of
// firn::FakeQuantize. A NaN makes the range NaN, an infinity infinite. x, y: floating, of any
// shape; half types compute in f32 Buffers: low, high f32 [], num_batches_tracked i64 []. Before a
// batch was seen the range is 0.
class FakeQuantize final : public LayerWithOptions<FakeQuantizeOptions> {
 public:
  // Throws when the dtype is neither i8 nor u8 or averaging does not lie in (0, 1].
  explicit FakeQuantize(const Options& options = {});

  // The quantization by which x is rounded now. Read on the host.
  Quantization quantization() const;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  struct Grid {
    Tensor scale, zero_point;  // f32 and i32, []
  };
  Grid grid() const;
  void Follow(const Tensor& x);
  int64_t least() const { return options().dtype == DType::kU8 ? 0 : -128; }

  Tensor &low_, &high_, &num_batches_tracked_;
};

}  // namespace firn::nn::quantized

#endif  // FIRN_NN_QUANTIZED_FAKE_QUANTIZE_H_
