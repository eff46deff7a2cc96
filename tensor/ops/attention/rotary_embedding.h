#ifndef FIRN_TENSOR_OPS_ATTENTION_ROTARY_EMBEDDING_H_
#define FIRN_TENSOR_OPS_ATTENTION_ROTARY_EMBEDDING_H_

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn {

struct RotaryEmbeddingOptions {
  // The positions of the rows, i64 or floating, broadcast to [..., length]; undefined: offset,
  // offset + 1, ...
  Tensor positions = {};
  int64_t offset = 0;
  double base = 10000;
  int64_t dims = 0;  // the number of leading features that are rotated, even; 0: all
  // The features that make a pair: neighbours, or one of each half, as LLaMA's weights have them.
  bool interleaved = false;
};

// Rotary position embedding (J. Su et al., "RoFormer: enhanced transformer with rotary position
// embedding", 2021): pair i of the `dims` features of the row at position p is rotated by the angle
// p / base^(2 i / dims), so that products of rotated queries and keys depend only on the distance.
//   x: [..., length, features], floating      y: as x
// Angles are computed in f32, in f64 for f64; the rotation itself as well. Throws on an odd number
// of features or one beyond those of x.
Tensor RotaryEmbedding(const Tensor& x, const RotaryEmbeddingOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_ROTARY_EMBEDDING_H_
