#ifndef FIRN_NN_EMBEDDING_H_
#define FIRN_NN_EMBEDDING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "firn/nn/layer.h"

namespace firn::nn {

struct EmbeddingOptions {
  int64_t count = 0;  // rows
  int64_t size = 0;   // elements of a row
  // A row that starts as zeros and gets no gradient; a negative one counts from the end.
  std::optional<int64_t> padding_idx = {};
  bool scale_grad_by_freq = false;     // divide a row's gradient by how often the batch has it
  init::Initializer weight_init = {};  // empty: standard normal
};

// Rows of a table: indices [...] (i32 or i64) -> [..., size].
// Parameter: weight [count, size].
class Embedding final : public Layer {
 public:
  using Options = EmbeddingOptions;
  // Throws when a size is not positive or padding_idx is outside the table.
  explicit Embedding(const Options& options);

  const Options& options() const { return options_; }
  const Tensor& weight() const { return weight_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& indices) override;

 private:
  Options options_;
  Tensor& weight_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_EMBEDDING_H_
