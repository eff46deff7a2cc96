#ifndef FIRN_IO_DATA_TRANSFORMS_MIX_H_
#define FIRN_IO_DATA_TRANSFORMS_MIX_H_

#include <cstdint>
#include <functional>

#include "firn/io/data/dataset.h"
#include "firn/tensor/rng.h"

namespace firn::io {

// A function of a whole batch: what DataLoaderOptions::map takes.
using BatchTransform = std::function<Sample(Sample batch, RandomGenerator& random)>;

struct MixOptions {
  int64_t classes = 0;  // how many there are; 0 where targets are shares already
  double alpha = 1;     // of the beta distribution (alpha, alpha) of the share: 1 is uniform
};

// Each image mixed with the one before it in the batch, the first one with the last: share * x[i] +
// (1 - share) * x[i - 1], one share for the batch. torchvision's MixUp, from "mixup: beyond
// empirical risk minimization", Zhang et al., 2018; small alphas such as 0.2 are usual.
//   input   f32 [N, ...]                       f32 [N, ...]
//   target  i64 [N], or shares f32 [N, C]      shares f32 [N, classes], which CrossEntropy takes
// Throws unless classes >= 0 and alpha > 0; of another batch, a label beyond the classes, or labels
// where classes is 0, or of more tensors than the two.
BatchTransform MixUp(const MixOptions& options);

// A rectangle of each image replaced by that of the image before it, the same for the whole batch:
// its area is 1 - share of the image's, its middle anywhere, what reaches beyond the border cut
// off; targets are mixed by the area that is left. torchvision's CutMix, from "CutMix:
// regularization strategy to train strong classifiers with localizable features", Yun et al., 2019.
// Input f32 [N, channels, height, width], targets and errors as of MixUp.
BatchTransform CutMix(const MixOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_MIX_H_
