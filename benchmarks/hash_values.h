#ifndef FIRN_BENCHMARKS_HASH_VALUES_H_
#define FIRN_BENCHMARKS_HASH_VALUES_H_

// Parameters and batches from an integer hash, the same as peers/hash_values.py makes (which has
// the formulas): so Firn and other frameworks start equal and see the same data.

#include <cstdint>

#include "firn/nn/module.h"
#include "firn/tensor/tensor.h"

namespace firn::benchmarks {

// f32 elements in [-scale / 2, scale / 2).
Tensor HashValues(const Shape& shape, uint64_t salt, double scale);
// i64, class indices below `classes`.
Tensor HashLabels(const Shape& shape, uint64_t salt, uint64_t classes = 10);

struct HashBatch {
  Tensor input;   // f32 [n, ...input_shape]
  Tensor labels;  // i64 [n]
};
// The batch that training step `step` reads. Two batches alternate.
HashBatch BatchOfStep(int64_t step, int64_t n, const Shape& input_shape);
// The same for tokens: class indices below `tokens`.
Tensor TokensOfStep(int64_t step, const Shape& shape, int64_t tokens);

// Overwrites every parameter: the weight of a norm with 1, its bias with 0, others with
// hashed values within 1 / sqrt(fan_in). Requires: none is pending.
void FillParameters(nn::Module& net);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_HASH_VALUES_H_
