#ifndef FIRN_IO_DATA_TRANSFORMS_TRANSFORM_H_
#define FIRN_IO_DATA_TRANSFORMS_TRANSFORM_H_

// Images changed on their way into a batch:
//
//   io::Transform augment = io::Compose({io::RandomResizedCrop({.height = 224, .width = 224}),
//                                        io::RandomHorizontalFlip(), io::ToFloat()});
//   io::DataLoader train(photos, {.batch = 64, .shuffle = true, .prefetch = 2,
//                                 .transform = augment});

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

namespace internal {
struct Scene;
}  // namespace internal

// An interval, with both ends unless stated otherwise. Random transforms draw from it uniformly.
struct Interval {
  double low = 0;
  double high = 0;
};

// A function of an image, made by the functions of this folder or of a program's own:
//
//   io::Transform negative = [](Tensor image) { return 1 - image; };
//   io::Transform noise = [](Tensor image, RandomGenerator& random) {
//     return image + 0.1 * Randn(image.shape(), DType::kF32, {.generator = &random});
//   };
//
// Those of this folder take images u8 (0 to 255) or f32 (0 to 1 where colours are changed) of
// [channels, height, width] on the CPU, as ReadImage gives, and throw firn::Error for others, with
// what was expected and what came. They never change their argument. Images of one dtype and size
// and equal generators give equal results, on any machine and thread. Thread-safe; a program's own
// function is called by several threads at once. Cheap to copy.
class Transform {
 public:
  // Made of f(image, random) or f(image). A transform is never empty: an empty std::function throws
  // when it is called.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Transform> &&
           std::is_invocable_r_v<Tensor, F&, Tensor, RandomGenerator&>) Transform(F&& f)
      : f_([own = std::decay_t<F>(std::forward<F>(f))](Tensor image, RandomGenerator& random,
                                                       internal::Scene*) mutable {
          return own(std::move(image), random);
        }) {}  // NOLINT: implicit on purpose
  // From a function that moves pixels and must tell the scene how, unless that is null.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Transform> &&
           std::is_invocable_r_v<Tensor, F&, Tensor, RandomGenerator&, internal::Scene*>)
      Transform(F&& f)  // NOLINT: implicit on purpose
      : f_(std::forward<F>(f)) {}
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Transform> &&
           !std::is_invocable_v<F&, Tensor, RandomGenerator&> &&
           std::is_invocable_r_v<Tensor, F&, Tensor>)
      Transform(F&& f)  // NOLINT: implicit on purpose
      : f_([own = std::decay_t<F>(std::forward<F>(f))](Tensor image, RandomGenerator&,
                                                       internal::Scene*) mutable {
          return own(std::move(image));
        }) {}

  Tensor operator()(Tensor image, RandomGenerator& random) const {
    return f_(std::move(image), random, nullptr);
  }
  // For TransformSample, which moves more than the image.
  Tensor operator()(Tensor image, RandomGenerator& random, internal::Scene* scene) const {
    return f_(std::move(image), random, scene);
  }
  // Changes the sample's input, as DataLoaderOptions::transform needs it. Other tensors stay as
  // they are; TransformSample (sample_transform.h) takes boxes and masks along.
  Sample operator()(Sample sample, RandomGenerator& random) const;
  // For transforms that draw nothing. Throws kFailedPrecondition if this one draws, since only a
  // generator could decide the numbers.
  Tensor operator()(Tensor image) const;

 private:
  std::function<Tensor(Tensor, RandomGenerator&, internal::Scene*)> f_;
};

// Applies transforms one after the other, all with one generator. Without any, the image stays as
// it is.
Transform Compose(std::vector<Transform> transforms);

struct RandomApplyOptions {
  double p = 0.5;
};

// `transform` with probability p, else the image as it is. Throws unless 0 <= p <= 1.
Transform RandomApply(Transform transform, const RandomApplyOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_TRANSFORM_H_
