#ifndef FIRN_TENSOR_OPS_ACTIVATION_SIGMOIDS_H_
#define FIRN_TENSOR_OPS_ACTIVATION_SIGMOIDS_H_

#include <optional>

#include "firn/device/enum_words.h"
#include "firn/tensor/tensor.h"

namespace firn {

// 1 / (1 + e^-x). Integers and bools become f32.
Tensor Sigmoid(const Tensor& x);

// log(Sigmoid(x)) = -Softplus(-x), finite for every finite x. Integers and bools become f32.
Tensor LogSigmoid(const Tensor& x);

// The first half of x along `dim` times the Sigmoid of the second (Dauphin et al., 2017). Throws
// unless that size is even. Integers and bools become f32.
Tensor Glu(const Tensor& x, inner::Integer dim = -1);

// The hyperbolic tangent. Integers and bools become f32.
Tensor Tanh(const Tensor& x);

// x / (1 + |x|). Integers and bools become f32.
Tensor Softsign(const Tensor& x);

// x * sigmoid(x), also called swish. Integers and bools become f32.
Tensor Silu(const Tensor& x);

enum class GeluApproximate : int8_t {
  kNone,  // with the normal distribution function
  kTanh,  // with a tanh of a cubic, at most 1e-3 away
};
constexpr auto WordsOf(GeluApproximate) {
  return inner::EnumWords<GeluApproximate>(
      {{GeluApproximate::kNone, "none"}, {GeluApproximate::kTanh, "tanh"}});
}

namespace inner {
struct GeluAttrs {
  GeluApproximate approximate = GeluApproximate::kNone;
  template <class V>
  void Visit(V& v) {
    v.Field("approximate", approximate);
  }
};
}  // namespace inner

// x * P(X <= x) for standard normal X (Hendrycks and Gimpel, 2016). Integers and bools become f32.
Tensor Gelu(const Tensor& x, GeluApproximate approximate = GeluApproximate::kNone);

namespace inner {
struct SoftplusAttrs {
  double beta = 1;
  double threshold = 20;
  template <class V>
  void Visit(V& v) {
    v.Field("beta", beta);
    v.Field("threshold", threshold);
  }
};

struct LogitAttrs {
  double eps = -1;  // below 0: none
  template <class V>
  void Visit(V& v) {
    v.Field("eps", eps);
  }
};
}  // namespace inner

// log(1 + e^(beta x)) / beta, and x itself where beta * x > threshold. Finite for finite x whatever
// the threshold. Integers and bools become f32.
Tensor Softplus(const Tensor& x, inner::Real beta = 1, inner::Real threshold = 20);

// x * Tanh(Softplus(x)) (Misra, 2019). Integers and bools become f32.
Tensor Mish(const Tensor& x);

// log(x / (1 - x)), the inverse of Sigmoid; NaN outside [0, 1], infinite at its ends. With eps x is
// cut off at eps and 1 - eps first (torch.logit). Integers and bools become f32. Throws on an eps
// outside [0, 0.5].
Tensor Logit(const Tensor& x, std::optional<double> eps = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_SIGMOIDS_H_
