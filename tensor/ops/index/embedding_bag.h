#ifndef FIRN_TENSOR_OPS_INDEX_EMBEDDING_BAG_H_
#define FIRN_TENSOR_OPS_INDEX_EMBEDDING_BAG_H_

#include <optional>

#include "firn/device/enum_words.h"
#include "firn/tensor/problems/index_attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

// How the rows of a bag are combined.
enum class EmbeddingBagMode : uint8_t {
  kSum,
  kMean,
  kMax,
};
constexpr auto WordsOf(EmbeddingBagMode) {
  return inner::EnumWords<EmbeddingBagMode>({{EmbeddingBagMode::kSum, "sum"},
                                             {EmbeddingBagMode::kMean, "mean"},
                                             {EmbeddingBagMode::kMax, "max"}});
}

namespace inner {
// Attributes of embedding_bag_rows, which serves bags of one size.
struct EmbeddingBagAttrs {
  bool mean = true;
  int64_t padding_idx = kNoIndex;
  template <class V>
  void Visit(V& v) {
    v.Field("mean", mean);
    v.Field("padding_idx", padding_idx);
  }
};
}  // namespace inner

struct EmbeddingBagOptions {
  Tensor offsets = {};  // i32 or i64 [bags], ascending from 0: the start of each bag of 1-D indices
  EmbeddingBagMode mode = EmbeddingBagMode::kMean;
  Tensor per_sample_weights = {};  // of each index, for kSum; of weight's dtype and indices' shape
  std::optional<int64_t> padding_idx = {};  // this index is in no bag; negative: from the end
};

// The sum, mean or maxima of the rows of `weight` [n, size] at the indices of each bag (i32, i64;
// torch.nn.functional.embedding_bag): indices [bags, each], or 1-D with offsets -> [bags, size]. A
// bag without indices gives zeros. The gradient is dense, like Embedding's. Throws on indices
// outside [0, n) and shapes that do not fit; indices before the first offset are in no bag (PyTorch
// wants it to be 0).
Tensor EmbeddingBag(const Tensor& indices, const Tensor& weight,
                    const EmbeddingBagOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_EMBEDDING_BAG_H_
