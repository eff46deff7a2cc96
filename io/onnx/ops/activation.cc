// Activations. Numbers are as the format has them, in f32.

#include <limits>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

const OnnxOps kHardSwish("HardSwish", 14, Unary([](const Tensor& x) { return Hardswish(x); }));
const OnnxOps kMish("Mish", 18, Unary([](const Tensor& x) { return Mish(x); }));
const OnnxOps kRelu("Relu", 1, Unary([](const Tensor& x) {
                      return IsFloating(x.dtype()) ? Relu(x) : Maximum(x, ZerosLike(x));
                    }));
const OnnxOps kSigmoid("Sigmoid", 1, Unary([](const Tensor& x) { return Sigmoid(x); }));
const OnnxOps kSoftsign("Softsign", 1, Unary([](const Tensor& x) { return Softsign(x); }));
const OnnxOps kTanh("Tanh", 1, Unary([](const Tensor& x) { return Tanh(x); }));
const OnnxOps kSoftplus("Softplus", 1, Unary([](const Tensor& x) {
                          return Softplus(x, 1, std::numeric_limits<double>::infinity());
                        }));

// One that has a number, `alpha`.
OnnxLowering WithAlpha(double otherwise, Tensor (*f)(const Tensor& x, double alpha)) {
  return [=](OnnxCall& call) -> Step {
    const double alpha = call.Float("alpha", otherwise);
    return One([=](In in) { return f(in[0], alpha); });
  };
}

const OnnxOps kCelu("Celu", 12,
                    WithAlpha(1, [](const Tensor& x, double alpha) { return Celu(x, alpha); }));
const OnnxOps kElu("Elu", 1,
                   WithAlpha(1, [](const Tensor& x, double alpha) { return Elu(x, alpha); }));
const OnnxOps kLeakyRelu("LeakyRelu", 1, WithAlpha(0.01f, [](const Tensor& x, double alpha) {
                           return LeakyRelu(x, alpha);
                         }));
const OnnxOps kThresholdedRelu("ThresholdedRelu", 1,
                               WithAlpha(1, [](const Tensor& x, double alpha) {
                                 return Threshold(x, alpha, 0);
                               }));
Tensor SwishOf(const Tensor& x, double alpha) {
  return alpha == 1 ? Silu(x) : Mul(x, Sigmoid(Mul(x, Tensor(alpha))));
}
const OnnxOps kSwish("Swish", 24, WithAlpha(1, SwishOf));

const OnnxOps kHardSigmoid("HardSigmoid", 1, [](OnnxCall& call) -> Step {
  const double alpha = call.Float("alpha", 0.2f), beta = call.Float("beta", 0.5f);
  return One([=](In in) { return Hardsigmoid(in[0], alpha, beta); });
});

// Before version 6 the numbers have five digits when they are not given.
const OnnxOps kSelu("Selu", 1, [](OnnxCall& call) -> Step {
  const bool old = call.opset() < 6;
  const bool usual = !old && !call.Has("alpha") && !call.Has("gamma");
  const double alpha = call.Float("alpha", old ? 1.6732f : 1.67326319217681884765625);
  const double gamma = call.Float("gamma", old ? 1.0507f : 1.05070102214813232421875);
  if (usual) return One([](In in) { return Selu(in[0]); });
  return One([=](In in) { return Mul(Elu(in[0], alpha), Tensor(gamma)); });
});

const OnnxOps kGelu("Gelu", 20, [](OnnxCall& call) -> Step {
  const bool tanh = call.OneOf("approximate", "none", {"none", "tanh"}) == "tanh";
  return One([tanh](In in) {
    return Gelu(in[0], tanh ? GeluApproximate::kTanh : GeluApproximate::kNone);
  });
});

const OnnxOps kSwiGlu("SwiGLU", 28, [](OnnxCall& call) -> Step {
  const double alpha = call.Float("alpha", 1);
  return One([alpha](In in) { return Mul(SwishOf(in[0], alpha), in[1]); });
});

// Up to opset 6 the slope is one number or one for each channel.
const OnnxOps kPReluOfChannels("PRelu", 1, [](OnnxCall& call) -> Step {
  const Shape x = call.node.ShapeAt(0);
  const int64_t slopes = call.node.ShapeAt(1).num_elements();
  if (slopes != 1 && (x.rank() < 2 || slopes != x[1])) {
    RefuseNode("input 1 is expected to have one element, or one for each channel of ", x.ToString(),
               ", it is ", call.node.Spec(1).ToString());
  }
  return One([](In in) { return Prelu(in[0], Reshape(in[1], {-1})); });
});

// The slope is broadcast to x, aligned to its last dimension: [C, 1, 1] has one for each channel.
const OnnxOps kPRelu("PRelu", 7, [](OnnxCall& call) -> Step {
  const Shape x = call.node.ShapeAt(0), slope = call.node.ShapeAt(1);
  const int channel = slope.rank() - x.rank() + 1;
  const bool by_channel =
      x.rank() >= 2 && channel >= 0 && slope.num_elements() == x[1] && slope[channel] == x[1];
  if (by_channel || slope.num_elements() == 1) {
    return One([](In in) { return Prelu(in[0], Reshape(in[1], {-1})); });
  }
  if (!BroadcastsTo(slope, x)) {
    RefuseNode("input 1 is expected to broadcast to ", x.ToString(), ", it is ", slope.ToString());
  }
  return One([](In in) { return Where(Lt(in[0], ZerosLike(in[0])), Mul(in[0], in[1]), in[0]); });
});

// x + bias below -lambd, x - bias above lambd, 0 in between.
const OnnxOps kShrink("Shrink", 9, [](OnnxCall& call) -> Step {
  const double lambda = call.Float("lambd", 0.5f), bias = call.Float("bias", 0);
  const DType dtype = call.node.DTypeAt(0);
  return One([=](In in) {
    const Tensor x = IsFloating(dtype) ? in[0] : Cast(in[0], DType::kF32);
    const Tensor above = Where(Gt(x, Tensor(lambda)), Sub(x, Tensor(bias)), ZerosLike(x));
    return Cast(Where(Lt(x, Tensor(-lambda)), Add(x, Tensor(bias)), above), dtype);
  });
});

// --- Softmax and its like -----------------------------------------------------------------------

using AlongDim = Tensor (*)(const Tensor& x, int64_t dim);

// Up to opset 12 all dimensions from `axis` on are one.
OnnxLowering OfMatrix(AlongDim f) {
  return [f](OnnxCall& call) -> Step {
    const Shape shape = call.node.ShapeAt(0);
    const int64_t axis = call.Axis(call.Int("axis", 1), shape.rank());
    if (axis == shape.rank() - 1) return One([=](In in) { return f(in[0], axis); });
    int64_t columns = 1;
    for (int64_t i = axis; i < shape.rank(); ++i) columns *= shape[i];
    const int64_t rows = columns == 0 ? 0 : shape.num_elements() / columns;
    return One([=](In in) { return Reshape(f(Reshape(in[0], {rows, columns}), 1), shape); });
  };
}

OnnxLowering AlongAxis(AlongDim f) {
  return [f](OnnxCall& call) -> Step {
    const int64_t axis = call.Axis(call.Int("axis", -1), call.node.Rank(0));
    return One([=](In in) { return f(in[0], axis); });
  };
}

Tensor SoftmaxOf(const Tensor& x, int64_t dim) { return Softmax(x, dim); }
Tensor LogSoftmaxOf(const Tensor& x, int64_t dim) { return LogSoftmax(x, dim); }
// 1 where the first of the largest elements is.
Tensor HardmaxOf(const Tensor& x, int64_t dim) {
  return Movedim(OneHot(Argmax(x, dim), x.size(dim), x.dtype()), -1, dim);
}

const OnnxOps kSoftmaxOfMatrix("Softmax", 1, OfMatrix(SoftmaxOf));
const OnnxOps kSoftmax("Softmax", 13, AlongAxis(SoftmaxOf));
const OnnxOps kLogSoftmaxOfMatrix("LogSoftmax", 1, OfMatrix(LogSoftmaxOf));
const OnnxOps kLogSoftmax("LogSoftmax", 13, AlongAxis(LogSoftmaxOf));
const OnnxOps kHardmaxOfMatrix("Hardmax", 1, OfMatrix(HardmaxOf));
const OnnxOps kHardmax("Hardmax", 13, AlongAxis(HardmaxOf));

}  // namespace
}  // namespace firn::io::internal
