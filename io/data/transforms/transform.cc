// A transform is a function; here are its calls without a generator, and for a sample.
#include "firn/io/data/transforms/transform.h"

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io {

Sample Transform::operator()(Sample sample, RandomGenerator& random) const {
  sample.input = f_(std::move(sample.input), random, nullptr);
  return sample;
}

Tensor Transform::operator()(Tensor image) const {
  RandomGenerator random;
  Tensor made = f_(std::move(image), random, nullptr);
  if (random.position().offset != 0) {
    RaiseStatus(FailedPrecondition("it draws random numbers: call it with a generator"),
                "transform");
  }
  return made;
}

Transform Compose(std::vector<Transform> transforms) {
  return [transforms = std::move(transforms)](Tensor image, RandomGenerator& random,
                                              internal::Scene* scene) {
    for (const Transform& transform : transforms) {
      image = transform(std::move(image), random, scene);
    }
    return image;
  };
}

Transform RandomApply(Transform transform, const RandomApplyOptions& options) {
  internal::RequireProbability(options.p, "random_apply");
  return [transform = std::move(transform), p = options.p](Tensor image, RandomGenerator& random,
                                                           internal::Scene* scene) {
    return internal::Chance(random, p) ? transform(std::move(image), random, scene) : image;
  };
}

}  // namespace firn::io
