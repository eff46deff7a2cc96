#ifndef FIRN_TENSOR_OPS_INDEX_EMBEDDING_H_
#define FIRN_TENSOR_OPS_INDEX_EMBEDDING_H_

#include <optional>

#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/tensor.h"

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
// padding_idx gets no gradient (its value is looked up like any other; a layer initialises it to
// zero); a negative one counts from the end. The gradient is dense and does not depend on the
// number of threads; with scale_grad_by_freq each row's is divided by how often the row was looked
// up. Throws on an index outside [0, n).
Tensor Embedding(const Tensor& indices, const Tensor& weight, const EmbeddingOptions& options = {});

namespace inner {
struct OneHotAttrs {
  int64_t num_classes = 0;
  DType dtype = DType::kI64;
  template <class V>
  void Visit(V& v) {
    v.Field("num_classes", num_classes);
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// indices [...] -> [..., num_classes]: 1 at the index along the last dimension, 0 elsewhere.
// num_classes -1 takes the largest index + 1, which reads the indices on the host: it waits for a
// CUDA device, and is an error during capture. Throws on an index outside [0, num_classes).
Tensor OneHot(const Tensor& indices, inner::Integer num_classes = -1, DType dtype = DType::kI64);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_EMBEDDING_H_
