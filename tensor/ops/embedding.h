#ifndef FIRN_TENSOR_OPS_EMBEDDING_H_
#define FIRN_TENSOR_OPS_EMBEDDING_H_

#include <optional>

#include "tensor/ops/index_select.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct EmbeddingAttrs {
  int64_t padding_idx = kNoIndex;
  bool scale_grad_by_freq = false;
  template <class V>
  void Visit(V& v) {
    v.Field("padding_idx", padding_idx);
    v.Field("scale_grad_by_freq", scale_grad_by_freq);
  }
};
}  // namespace inner

struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = {};
  bool scale_grad_by_freq = false;
};

// Rows of `weight` [n, ...] (usually [n, size]): indices [...] (i32 or i64) -> [..., size]. The row
// padding_idx gets no gradient (its value is looked up as any other; a layer starts it at zero); a
// negative one counts from the end. The gradient is dense and does not depend on the number of
// threads; with scale_grad_by_freq each row's is divided by how often the row was looked up. Throws
// on an index outside [0, n).
Tensor Embedding(const Tensor& indices, const Tensor& weight, const EmbeddingOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EMBEDDING_H_
