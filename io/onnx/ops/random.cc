// Random numbers. Which ones the standard leaves open: they come from the device's default
// generator (ManualSeed), and seeds in files say nothing.
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

const OnnxOpOptions kDraws = {.draws = true, .check = HasElement("dtype")};

struct Distribution {
  bool normal = false;
  double a = 0, b = 1;  // mean and deviation, or low and high
};

Distribution DistributionOf(const OnnxCall& call, bool normal) {
  if (normal) return {true, call.Float("mean", 0), call.Float("scale", 1)};
  return {false, call.Float("low", 0), call.Float("high", 1)};
}

Tensor Draw(const Distribution& d, const Shape& shape, DType dtype, Device device) {
  return d.normal ? Randn(shape, d.a, d.b, dtype, {.device = device})
                  : Rand(shape, d.a, d.b, dtype, {.device = device});
}

OnnxLowering Drawn(bool normal) {
  return [=](OnnxCall& call) -> Step {
    const Distribution d = DistributionOf(call, normal);
    const std::optional<std::vector<int64_t>> sizes = call.Ints("shape");
    if (!sizes) RefuseNode("attribute \"shape\" is missing");
    const Shape shape(*sizes);
    const DType dtype = call.Element("dtype", DType::kF32);
    return One([=](In) { return Draw(d, shape, dtype, Device()); });
  };
}

OnnxLowering DrawnLike(bool normal) {
  return [=](OnnxCall& call) -> Step {
    const Distribution d = DistributionOf(call, normal);
    const DType x = call.node.DTypeAt(0);
    const DType dtype = call.Element("dtype", IsFloating(x) ? x : DType::kF32);
    return One([=](In in) { return Draw(d, in[0].shape(), dtype, in[0].device()); });
  };
}

const OnnxOps kNormal("RandomNormal", 1, Drawn(true), kDraws);
const OnnxOps kUniform("RandomUniform", 1, Drawn(false), kDraws);
const OnnxOps kNormalLike("RandomNormalLike", 1, DrawnLike(true), kDraws);
const OnnxOps kUniformLike("RandomUniformLike", 1, DrawnLike(false), kDraws);

const OnnxOps kBernoulli(
    "Bernoulli", 15,
    [](OnnxCall& call) -> Step {
      const DType dtype = call.Element("dtype", call.node.DTypeAt(0));
      return One([=](In in) {
        const Tensor at = Rand(in[0].shape(), DType::kF32, {.device = in[0].device()});
        return Lt(at, in[0].To(DType::kF32)).To(dtype);
      });
    },
    kDraws);

// Takes logarithms of probabilities that need not add up to 1.
const OnnxOps kMultinomial(
    "Multinomial", 7,
    [](OnnxCall& call) -> Step {
      const DType dtype = call.Element("dtype", DType::kI32);
      const int64_t n = call.Int("sample_size", 1);
      return One([=](In in) {
        const Tensor x = in[0].To(DType::kF32);
        return Multinomial(Softmax(x, -1), n, {.replacement = true}).To(dtype);
      });
    },
    kDraws);

}  // namespace
}  // namespace firn::io::internal
