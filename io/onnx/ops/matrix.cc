// Products of matrices.

#include <algorithm>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

const OnnxOps kMatMul("MatMul", 1,
                      Binary([](const Tensor& a, const Tensor& b) { return Matmul(a, b); }));
const OnnxOps kDet("Det", 11, Unary([](const Tensor& a) { return Det(a); }));

Tensor Scaled(const Tensor& x, double factor) { return factor == 1 ? x : Mul(x, Tensor(factor)); }

// C is broadcast to the product, never the product to C.
void RequireSpread(const autograd::NodeCall& node, bool a_t, bool b_t) {
  const Shape& c = node.ShapeAt(2);
  const int64_t product[] = {node.ShapeAt(0)[a_t ? 1 : 0], node.ShapeAt(1)[b_t ? 0 : 1]};
  bool fits = c.rank() <= 2;
  for (int i = 1; fits && i <= c.rank(); ++i) {
    fits = c[c.rank() - i] == 1 || c[c.rank() - i] == product[2 - i];
  }
  if (fits) return;
  RefuseNode("input 2 is expected to be broadcast to [", product[0], ", ", product[1], "], it is ",
             node.Spec(2).ToString());
}

// alpha * A B + beta * C, as most files have it a linear layer. Up to opset 6 an attribute allows C
// to be broadcast.
const OnnxOps kGemm("Gemm", 1, [](OnnxCall& call) -> Step {
  const bool a_t = call.Flag("transA", false), b_t = call.Flag("transB", false);
  const double alpha = call.Float("alpha", 1), beta = call.Float("beta", 1);
  for (size_t i = 0; i < 2; ++i) {
    if (call.node.Rank(i) != 2) {
      RefuseNode("input ", i, " is expected to be a matrix, it is ", call.node.Spec(i).ToString());
    }
  }
  const bool c = call.node.Has(2) && beta != 0;
  if (c && call.opset() >= 7) RequireSpread(call.node, a_t, b_t);
  const bool row =
      c && call.node.Rank(2) == 1 && call.node.ShapeAt(2)[0] == call.node.ShapeAt(1)[b_t ? 0 : 1];
  const bool floating = IsFloating(call.node.DTypeAt(0));
  if (floating && !a_t && b_t && alpha == 1 && (!c || (row && beta == 1))) {
    return One([c](In in) { return Linear(in[0], in[1], c ? in[2] : Tensor()); });
  }
  const DType dtype = call.node.DTypeAt(0);
  return One([=](In in) {
    const Tensor product = Scaled(Matmul(in[0], in[1], a_t, b_t), alpha);
    return Cast(c ? Add(product, Scaled(in[2], beta)) : product, dtype);
  });
});

const OnnxOps kEinsum("Einsum", 12, [](OnnxCall& call) -> Step {
  std::string equation = call.Text("equation");
  std::erase(equation, ' ');
  return One([equation](In in) { return Einsum(equation, {in.begin(), in.end()}); });
});

}  // namespace
}  // namespace firn::io::internal
