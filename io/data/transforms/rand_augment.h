#ifndef FIRN_IO_DATA_TRANSFORMS_RAND_AUGMENT_H_
#define FIRN_IO_DATA_TRANSFORMS_RAND_AUGMENT_H_

#include <cstdint>

#include "firn/io/data/transforms/resize.h"
#include "firn/io/data/transforms/transform.h"

namespace firn::io {

struct RandAugmentOptions {
  int64_t operations = 2;  // applied to each image, one after the other
  int64_t magnitude = 9;   // of all of them: 0 to bins - 1
  int64_t bins = 31;
  Interpolation interpolation = Interpolation::kNearest;
  double fill = 0;  // beside the image, where one is moved or turned
};

// Operations drawn out of fourteen, each as likely; torchvision's RandAugment, from "RandAugment:
// practical automated data augmentation with a reduced search space", Cubuk et al., 2020. With m
// the magnitude's share of 0 to 1: no change; shear in x or y by 0.3 m; move in x or y by 150 / 331
// m of the side; rotate by 30 m degrees; brightness, saturation, contrast, sharpness by 1 + 0.9 m;
// posterize to 8 - round(4 m) bits; solarize from 255 (1 - m); auto_contrast; equalize. The first
// ten but "no change" use m or -m with equal chance. Images u8 of 1 or 3 channels. Throws unless
// operations >= 0, bins >= 2, 0 <= magnitude < bins and fill is 0 to 255.
Transform RandAugment(const RandAugmentOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_RAND_AUGMENT_H_
