// Activations.

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

const OnnxOps kRelu("Relu", 6, Unary([](const Tensor& x) { return Relu(x); }));
const OnnxOps kSigmoid("Sigmoid", 6, Unary([](const Tensor& x) { return Sigmoid(x); }));
const OnnxOps kTanh("Tanh", 6, Unary([](const Tensor& x) { return Tanh(x); }));

}  // namespace
}  // namespace firn::io::internal
