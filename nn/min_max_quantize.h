#ifndef FIRN_NN_MIN_MAX_QUANTIZE_H_
#define FIRN_NN_MIN_MAX_QUANTIZE_H_

#include "firn/nn/layer.h"

namespace firn::nn {

struct MinMaxQuantizeOptions {
  double ql_min = 0;  // the levels are the whole numbers from ql_min to ql_max
  double ql_max = 255;
  double qr_min = -6;  // the range at first
  double qr_max = 6;
  double decay = 0.999;          // of the moving averages
  bool x_min_max = false;        // training moves the range to x's extremes
  bool ema = false;              // it follows them by moving averages
  bool ste_fine_grained = true;  // no gradient to x outside of the range
  double eps = 0.01;             // the least length of the range
  template <class V>
  void Visit(V& v) {
    v.Field("ql_min", ql_min);
    v.Field("ql_max", ql_max);
    v.Field("qr_min", qr_min);
    v.Field("qr_max", qr_max);
    v.Field("decay", decay);
    v.Field("x_min_max", x_min_max);
    v.Field("ema", ema);
    v.Field("ste_fine_grained", ste_fine_grained);
    v.Field("eps", eps);
  }
};

// x rounded to the levels of one range for all elements; see tensor/ops/quantize/min_max.h
// (NNabla's parametric function min_max_quantize). With `x_min_max` training moves the range, and
// eval mode rounds by the last one; with `ema` alone it stays as it was loaded; with neither it is
// learnt.
// x, y: floating, of any shape; half types compute in f32
// qr_min, qr_max: f32 [], buffers with `x_min_max` or `ema`, else parameters
class MinMaxQuantize final : public LayerWithOptions<MinMaxQuantizeOptions> {
 public:
  // Throws unless ql_min < ql_max, decay lies in [0, 1] and eps is above 0.
  explicit MinMaxQuantize(const Options& options = {});

  const Tensor& qr_min() const { return qr_min_; }
  const Tensor& qr_max() const { return qr_max_; }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor& AddEnd(const char* name, double value);

  Tensor &qr_min_, &qr_max_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_MIN_MAX_QUANTIZE_H_
