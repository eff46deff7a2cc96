#ifndef FIRN_NN_EMBEDDING_H_
#define FIRN_NN_EMBEDDING_H_

#include <cstdint>
#include <optional>

#include "firn/nn/layer.h"
#include "firn/tensor/ops/index/embedding_bag.h"

namespace firn::nn {

struct EmbeddingOptions {
  int64_t count = 0;  // rows
  int64_t size = 0;   // elements of a row
  // A row that starts as zeros and gets no gradient; a negative one counts from the end.
  std::optional<int64_t> padding_idx = {};
  bool scale_grad_by_freq = false;     // divide a row's gradient by how often the batch has it
  init::Initializer weight_init = {};  // empty: standard normal
  template <class V>
  void Visit(V& v) {
    v.Always("count", count);
    v.Always("size", size);
    v.Field("padding_idx", padding_idx);
    v.Field("scale_grad_by_freq", scale_grad_by_freq);
  }
};

// Rows of a table: indices [...] (i32 or i64) -> [..., size].
// Parameter: weight [count, size].
class Embedding final : public LayerWithOptions<EmbeddingOptions> {
 public:
  // Throws when a size is not positive or padding_idx is outside the table.
  explicit Embedding(const Options& options);

  const Tensor& weight() const { return weight_; }

 protected:
  Tensor Forward(const Tensor& indices) override;

 private:
  Tensor& weight_;
};

struct EmbeddingBagOptions {
  int64_t count = 0;  // rows
  int64_t size = 0;   // elements of a row
  EmbeddingBagMode mode = EmbeddingBagMode::kMean;
  // A row that starts as zeros and is in no bag; a negative one counts from the end.
  std::optional<int64_t> padding_idx = {};
  init::Initializer weight_init = {};  // empty: standard normal
  template <class V>
  void Visit(V& v) {
    v.Always("count", count);
    v.Always("size", size);
    v.Field("mode", mode);
    v.Field("padding_idx", padding_idx);
  }
};

// Sums, means or maxima of rows of a table: indices [bags, each] (i32 or i64) -> [bags, size].
// Parameter: weight [count, size].
class EmbeddingBag final : public LayerWithOptions<EmbeddingBagOptions> {
 public:
  // Throws when a size is not positive or padding_idx is outside the table.
  explicit EmbeddingBag(const Options& options);

  const Tensor& weight() const { return weight_; }

  using Layer::operator();
  // For indices [n], whose bags begin at offsets [bags]. Factors of the rows, for the mode sum,
  // have the indices' shape; offsets are undefined beside indices [bags, each].
  Tensor operator()(const Tensor& indices, const Tensor& offsets,
                    const Tensor& per_sample_weights = {});

 protected:
  Tensor Forward(const Tensor& indices) override;

 private:
  Tensor& weight_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_EMBEDDING_H_
