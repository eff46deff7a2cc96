// The options and the mode pick what firn::MinMaxQuantize does with the range. The function needs
// the range's ends in the type in which it computes; in a converted network they have another type.

#include "firn/nn/min_max_quantize.h"

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/quantize/min_max.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::nn {
namespace {

constexpr const char* kLayer = "nn::MinMaxQuantize";

MinMaxQuantizeOptions Checked(const MinMaxQuantizeOptions& o) {
  if (!(o.ql_min < o.ql_max)) {
    RaiseStatus(InvalidArgument("ql_min must be below ql_max, got ", o.ql_min, " and ", o.ql_max),
                kLayer);
  }
  CheckRange(kLayer, "decay", o.decay, 0, 1);
  if (!(o.eps > 0)) RaiseStatus(InvalidArgument("eps must be above 0, got ", o.eps), kLayer);
  return o;
}

}  // namespace

MinMaxQuantize::MinMaxQuantize(const Options& options)
    : LayerWithOptions(Checked(options)),
      qr_min_(AddEnd("qr_min", options.qr_min)),
      qr_max_(AddEnd("qr_max", options.qr_max)) {}

Tensor& MinMaxQuantize::AddEnd(const char* name, double value) {
  const bool learnt = !options().x_min_max && !options().ema;
  return learnt ? AddParameter(name, Full({}, value)) : AddBuffer(name, Full({}, value));
}

Tensor MinMaxQuantize::Forward(const Tensor& x) {
  CheckDefined(x, kLayer, "x");
  const Options& o = options();
  const bool moves = o.x_min_max && training();
  const DType dtype = ComputeDType(x.dtype());
  const Tensor low = Cast(qr_min_, dtype), high = Cast(qr_max_, dtype);
  Tensor y = firn::MinMaxQuantize(x, low, high, o.ql_min, o.ql_max,
                                  {.decay = o.decay,
                                   .x_min_max = moves,
                                   .ema = o.ema || (o.x_min_max && !moves),
                                   .ste_fine_grained = o.ste_fine_grained,
                                   .eps = o.eps});
  if (moves && !low.Is(qr_min_)) {  // copies have been moved
    const NoGradScope no_grad;
    Assign(qr_min_, low);
    Assign(qr_max_, high);
  }
  return y;
}

}  // namespace firn::nn
