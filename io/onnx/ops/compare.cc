// Comparisons, logic and bits.

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

#define FIRN_ONNX_COMPARE(Name, since, f) \
  const OnnxOps k##Name(#Name, since,     \
                        Binary([](const Tensor& x, const Tensor& y) { return f(x, y); }))

// Up to opset 6 an attribute says where the second operand lies.
#define FIRN_ONNX_LAID(Name, f)                                                        \
  const OnnxOps k##Name##Laid(                                                         \
      #Name, 1, BinaryLaid([](const Tensor& x, const Tensor& y) { return f(x, y); })); \
  FIRN_ONNX_COMPARE(Name, 7, f)

FIRN_ONNX_LAID(And, LogicalAnd);
FIRN_ONNX_COMPARE(BitwiseAnd, 18, BitwiseAnd);
FIRN_ONNX_COMPARE(BitwiseOr, 18, BitwiseOr);
FIRN_ONNX_COMPARE(BitwiseXor, 18, BitwiseXor);
FIRN_ONNX_LAID(Equal, Eq);
FIRN_ONNX_LAID(Greater, Gt);
FIRN_ONNX_COMPARE(GreaterOrEqual, 12, Ge);
FIRN_ONNX_LAID(Less, Lt);
FIRN_ONNX_COMPARE(LessOrEqual, 12, Le);
FIRN_ONNX_LAID(Or, LogicalOr);
FIRN_ONNX_LAID(Xor, LogicalXor);

const OnnxOps kNot("Not", 1, Unary([](const Tensor& x) { return LogicalNot(x); }));
const OnnxOps kBitwiseNot("BitwiseNot", 18, Unary([](const Tensor& x) { return BitwiseNot(x); }));
const OnnxOps kIsNaN("IsNaN", 9, Unary([](const Tensor& x) { return Isnan(x); }));

const OnnxOps kIsInf("IsInf", 10, [](OnnxCall& call) -> Step {
  const IsinfOptions options{.positive = call.Flag("detect_positive", true),
                             .negative = call.Flag("detect_negative", true)};
  return One([options](In in) { return Isinf(in[0], options); });
});

const OnnxOps kBitShift("BitShift", 11, [](OnnxCall& call) -> Step {
  if (!call.Has("direction")) RefuseNode("attribute \"direction\" is missing");
  const bool left = call.OneOf("direction", "", {"LEFT", "RIGHT"}) == "LEFT";
  return One([left](In in) {
    return left ? BitwiseLeftShift(in[0], in[1]) : BitwiseRightShift(in[0], in[1]);
  });
});

}  // namespace
}  // namespace firn::io::internal
