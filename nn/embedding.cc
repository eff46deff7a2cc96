// Embedding: the table of firn::Embedding.

#include "firn/nn/embedding.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/index/embedding.h"

namespace firn::nn {

Embedding::Embedding(const Options& options)
    : LayerWithOptions(options),
      weight_(AddPendingParameter("weight", {options.count, options.size})) {
  const Options& o = options;
  CheckSizes("nn::Embedding", {{"count", o.count}, {"size", o.size}});
  const int64_t padding = o.padding_idx.value_or(0);
  if (padding < -o.count || padding >= o.count) {
    RaiseStatus(OutOfRange("padding_idx ", padding, " is outside [", -o.count, ", ", o.count, ")"),
                "nn::Embedding");
  }
  InitPending(weight_, {o.count, o.size}, [&o, padding](Tensor& t) {
    Or(o.weight_init, init::Normal(0, 1))(t);
    if (!o.padding_idx) return;
    const int64_t row = padding < 0 ? padding + o.count : padding;
    const absl::Span<float> values = t.mutable_host_view<float>();
    std::fill_n(values.begin() + row * o.size, o.size, 0.f);
  });
}

Tensor Embedding::Forward(const Tensor& indices) {
  return firn::Embedding(indices, weight_, {options().padding_idx, options().scale_grad_by_freq});
}

}  // namespace firn::nn
