#ifndef FIRN_TENSOR_OPS_RANDOM_DROPOUTS_H_
#define FIRN_TENSOR_OPS_RANDOM_DROPOUTS_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Dropout of whole channels (Tompson et al., 2015; PyTorch's dropout1d, 2d and 3d): while training,
// each channel of each sample is set to 0 with probability p and otherwise scaled by 1 / (1 - p).
// x: [n, c, ...], floating. x itself when not training. Throws on a p outside [0, 1].
Tensor FeatureDropout(const Tensor& x, inner::Real p = 0.5, inner::Flag training = true,
                      RandomGenerator* generator = nullptr);

// Dropout that keeps mean 0 and variance 1 behind Selu (Klambauer et al., 2017; PyTorch's
// alpha_dropout): while training, each element (each channel of each sample with `per_channel`) is
// set to Selu's least value with probability p, and all are then scaled and shifted; p = 1 gives
// zeros. In a dropped channel NaN and infinities become NaN, as in PyTorch; dropped single elements
// lose them. x: floating, [n, c, ...] with `per_channel`. x itself when not training. Throws on a p
// outside [0, 1].
Tensor AlphaDropout(const Tensor& x, inner::Real p = 0.5, inner::Flag training = true,
                    inner::Flag per_channel = false, RandomGenerator* generator = nullptr);

// A residual branch's result, dropped with probability p and otherwise scaled by 1 / (1 - p) (Huang
// et al., 2016; torchvision's stochastic_depth): for each sample, x's first dimension, or without
// `per_row` for all of x at once. x: floating. x itself when not training. Throws on a p outside
// [0, 1].
Tensor StochasticDepth(const Tensor& x, inner::Real p, inner::Flag per_row = true,
                       inner::Flag training = true, RandomGenerator* generator = nullptr);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_DROPOUTS_H_
