#ifndef FIRN_TENSOR_OPS_ACTIVATION_RECTIFIERS_H_
#define FIRN_TENSOR_OPS_ACTIVATION_RECTIFIERS_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

// max(x, 0); NaN stays. The gradient at 0 is 0. Also for integers.
Tensor Relu(const Tensor& x);

namespace inner {
struct LeakyReluAttrs {
  double alpha = 0.01;  // PyTorch's negative_slope
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// x where x > 0, else alpha * x. The gradient at 0 is alpha's. Integers and bools become f32.
Tensor LeakyRelu(const Tensor& x, inner::Real alpha = 0.01);

namespace inner {
struct ThresholdAttrs {
  double threshold = 0;
  double value = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("threshold", threshold);
    v.Field("value", value);
  }
};
}  // namespace inner

// x where x > 0, else weight * x (He et al., 2015). The weight has 1 element or as many as dim 1 of
// x, one for each channel. The gradient at 0 is the weight's. Integers and bools become f32.
Tensor Prelu(const Tensor& x, const Tensor& weight);

// x where x > threshold, else `value`; NaN stays. The gradient at the threshold is 0. Integers and
// bools become f32.
Tensor Threshold(const Tensor& x, inner::Real threshold, inner::Real value);

namespace inner {
struct HardtanhAttrs {
  double min = -1;
  double max = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("min", min);
    v.Field("max", max);
  }
};
}  // namespace inner

// x cut off at `min` and `max`; NaN stays. The gradient at the ends is 0 (Clamp's is 1). Integers
// and bools become f32. Throws when min > max.
Tensor Hardtanh(const Tensor& x, inner::Real min = -1, inner::Real max = 1);

namespace inner {
struct HardsigmoidAttrs {
  double alpha = 1.0 / 6;
  double beta = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("beta", beta);
  }
};
}  // namespace inner

// x cut off at 0 and 6. The gradient at the ends is 0. Integers and bools become f32.
Tensor Relu6(const Tensor& x);

// alpha * x + beta cut off at 0 and 1; NaN stays. The gradient at the ends is 0. Integers and bools
// become f32.
Tensor Hardsigmoid(const Tensor& x, inner::Real alpha = 1.0 / 6, inner::Real beta = 0.5);

// x * Hardsigmoid(x) (Howard et al., 2019). Integers and bools become f32.
Tensor Hardswish(const Tensor& x);

namespace inner {
struct EluAttrs {
  double alpha = 1;
  double scale = 1;        // of the whole
  double input_scale = 1;  // of x inside the exponential
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("scale", scale);
    v.Field("input_scale", input_scale);
  }
};
}  // namespace inner

// x where x > 0, else alpha * (e^x - 1). Integers and bools become f32.
Tensor Elu(const Tensor& x, inner::Real alpha = 1);

namespace inner {
// scale * (x where x > 0, else alpha * (e^(x * input_scale) - 1)): the common form of elu, selu and
// celu.
Tensor ScaledElu(const Tensor& x, const EluAttrs& attrs);
}  // namespace inner

// 1.0507 * (x where x > 0, else 1.6733 * (e^x - 1)), the self-normalising constants of Klambauer et
// al., 2017. Integers and bools become f32.
Tensor Selu(const Tensor& x);

namespace inner {
// Throws when alpha is 0, because the formula divides by it.
void CheckCeluAlpha(double alpha, const char* where);
}  // namespace inner

// x where x > 0, else alpha * (e^(x / alpha) - 1) (Barron, 2017): unlike Elu's, its slope has no
// jump at 0. Integers and bools become f32. Throws when alpha is 0.
Tensor Celu(const Tensor& x, inner::Real alpha = 1);

namespace inner {
// The slopes of Rrelu.
struct RreluAttrs {
  double lower = 1.0 / 8, upper = 1.0 / 3;
  template <class V>
  void Visit(V& v) {
    v.Field("lower", lower);
    v.Field("upper", upper);
  }
  // Throws, naming `where`, unless they are finite and in order.
  void Check(const char* where) const;
};
}  // namespace inner

// While training, x where x > 0, else x times a slope that is drawn for each element, uniform on
// [lower, upper) (Xu et al., 2015); otherwise LeakyRelu with the mean slope. Integers and bools
// become f32. Throws when lower > upper or one is not finite.
Tensor Rrelu(const Tensor& x, inner::Real lower = 1.0 / 8, inner::Real upper = 1.0 / 3,
             inner::Flag training = false, RandomGenerator* generator = nullptr);

// Elu(x) and Elu(-x) one behind the other along `dim`, which doubles (Clevert et al., 2015;
// NNabla's celu). Integers and bools become f32. Throws when dim is out of range.
Tensor ConcatElu(const Tensor& x, inner::Real alpha = 1, inner::Integer dim = 1);

// Relu(x) and Relu(-x) one behind the other along `dim`, which doubles (Shang et al., 2016;
// NNabla's crelu). All dtypes but bool; negatives of unsigned integers wrap around. Throws when dim
// is out of range.
Tensor ConcatRelu(const Tensor& x, inner::Integer dim = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_RECTIFIERS_H_
