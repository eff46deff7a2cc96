// The tables of firn::Embedding and firn::EmbeddingBag.

#include "firn/nn/embedding.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/index/embedding.h"

namespace firn::nn {

namespace {

// Throws unless the options describe a table.
template <class O>
void CheckTable(const char* layer, const O& o) {
  CheckSizes(layer, {{"count", o.count}, {"size", o.size}});
  const int64_t padding = o.padding_idx.value_or(0);
  if (padding >= -o.count && padding < o.count) return;
  RaiseStatus(OutOfRange("padding_idx ", padding, " is outside [", -o.count, ", ", o.count, ")"),
              layer);
}

// The first values of a table: the row of the padding is zeros.
template <class O>
init::Initializer TableInit(const O& o) {
  return [o](Tensor& t) {
    Or(o.weight_init, init::Normal(0, 1))(t);
    if (!o.padding_idx) return;
    const int64_t row = *o.padding_idx < 0 ? *o.padding_idx + o.count : *o.padding_idx;
    const absl::Span<float> values = t.mutable_host_view<float>();
    std::fill_n(values.begin() + row * o.size, o.size, 0.f);
  };
}

}  // namespace

Embedding::Embedding(const Options& options)
    : LayerWithOptions(options),
      weight_(AddPendingParameter("weight", {options.count, options.size})) {
  CheckTable("nn::Embedding", options);
  InitPending(weight_, {options.count, options.size}, TableInit(options));
}

Tensor Embedding::Forward(const Tensor& indices) {
  return firn::Embedding(indices, weight_, {options().padding_idx, options().scale_grad_by_freq});
}

EmbeddingBag::EmbeddingBag(const Options& options)
    : LayerWithOptions(options),
      weight_(AddPendingParameter("weight", {options.count, options.size})) {
  CheckTable("nn::EmbeddingBag", options);
  InitPending(weight_, {options.count, options.size}, TableInit(options));
}

Tensor EmbeddingBag::operator()(const Tensor& indices, const Tensor& offsets,
                                const Tensor& per_sample_weights) {
  const auto bags = [&](const Tensor& x) {
    return firn::EmbeddingBag(x, weight_,
                              {.offsets = offsets,
                               .mode = options().mode,
                               .per_sample_weights = per_sample_weights,
                               .padding_idx = options().padding_idx});
  };
  return CallAs(bags, indices);
}

Tensor EmbeddingBag::Forward(const Tensor& indices) {
  return firn::EmbeddingBag(indices, weight_,
                            {.mode = options().mode, .padding_idx = options().padding_idx});
}

}  // namespace firn::nn
