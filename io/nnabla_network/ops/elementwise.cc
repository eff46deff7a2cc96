// Activations, arithmetic, comparisons and mathematics: functions of elements, which broadcast.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

// A page's line: a function of x, of x and y, or of x and the argument `val`.
#define UNARY(type, ...)                                                      \
  const NnablaOps k##type(#type, 1, 1, [](const Args&, In in) -> TensorList { \
    const Tensor& x = in[0];                                                  \
    return {__VA_ARGS__};                                                     \
  })
#define WITH(type, ...)                                                         \
  const NnablaOps k##type(#type, 1, 1, [](const Args& a, In in) -> TensorList { \
    const Tensor& x = in[0];                                                    \
    return {__VA_ARGS__};                                                       \
  })
#define BINARY(type, ...)                                                     \
  const NnablaOps k##type(#type, 2, 2, [](const Args&, In in) -> TensorList { \
    const Tensor &x = in[0], &y = in[1];                                      \
    return {__VA_ARGS__};                                                     \
  })

Tensor Val(const Args& a) { return Tensor(a.Number("val")); }
Tensor IsSet(const Tensor& x) { return Ne(x, ZerosLike(x)); }

UNARY(Sigmoid, Sigmoid(x));
UNARY(Swish, Silu(x));
UNARY(Tanh, Tanh(x));
UNARY(ReLU, Relu(x));
WITH(LeakyReLU, LeakyRelu(x, a.Number("alpha")));
WITH(Softmax, Softmax(x, AxisOf(x, a.Int("axis"))));
WITH(LogSoftmax, LogSoftmax(x, AxisOf(x, a.Int("axis"))));
WITH(ELU, Elu(x, a.Number("alpha")));
WITH(SELU, Mul(Elu(x, a.Number("alpha")), Tensor(a.Number("scale"))));
WITH(CReLU, ConcatRelu(x, AxisOf(x, a.Int("axis"))));
WITH(CELU, ConcatElu(x, a.Number("alpha"), AxisOf(x, a.Int("axis"))));
UNARY(GELU, Gelu(x, GeluApproximate::kTanh));
UNARY(Mish, Mish(x));
UNARY(ReLU6, Relu6(x));
UNARY(HardSigmoid, Hardsigmoid(x, 0.2, 0.5));
UNARY(HardTanh, Hardtanh(x));
UNARY(LogSigmoid, LogSigmoid(x));
WITH(SoftPlus, Softplus(x, a.Number("beta"), std::numeric_limits<double>::infinity()));
UNARY(SoftSign, Softsign(x));
UNARY(TanhShrink, Tanhshrink(x));
UNARY(Sinc, Sinc(Mul(x, Tensor(std::numbers::inv_pi))));

// A slope for all, or for each index of dimension base_axis.
const NnablaOps kPReLU("PReLU", 2, 2, [](const Args& a, In in) -> TensorList {
  const Tensor &x = in[0], &slope = in[1];
  if (slope.shape().num_elements() == 1) return {Prelu(x, Reshape(slope, {1}))};
  std::vector<int64_t> sizes(static_cast<size_t>(x.rank()), 1);
  sizes[static_cast<size_t>(AxisOf(x, a.Int("base_axis")))] = slope.shape().num_elements();
  return {Where(Gt(x, ZerosLike(x)), x, Mul(Reshaped(slope, sizes), x))};
});

BINARY(Add2, Add(x, y));
BINARY(BcAdd2, Add(x, y));
BINARY(Sub2, Sub(x, y));
BINARY(Mul2, Mul(x, y));
BINARY(Div2, Div(x, y));
BINARY(Pow2, Pow(x, y));
WITH(AddScalar, Add(x, Val(a)));
WITH(MulScalar, Mul(x, Val(a)));
WITH(PowScalar, Pow(x, Val(a)));
WITH(RSubScalar, Sub(Val(a), x));
WITH(RDivScalar, Div(Val(a), x));
WITH(RPowScalar, Pow(Val(a), x));
const NnablaOps kAddN("AddN", 1, kAnyInputs, [](const Args&, In in) -> TensorList {
  return {AddN(std::vector<Tensor>(in.begin(), in.end()))};
});
const NnablaOps kMulN("MulN", 1, kAnyInputs, [](const Args&, In in) -> TensorList {
  Tensor y = in[0];
  for (size_t i = 1; i < in.size(); ++i) y = Mul(y, in[i]);
  return {y};
});

WITH(Sign, StraightThrough(Where(Eq(x, ZerosLike(x)), FullLike(x, a.Number("alpha")), Sign(x)), x));
BINARY(Minimum2, Minimum(x, y));
BINARY(Maximum2, Maximum(x, y));
WITH(MinimumScalar, Minimum(x, Val(a)));
WITH(MaximumScalar, Maximum(x, Val(a)));
BINARY(LogicalAnd, NumbersOf(LogicalAnd(IsSet(x), IsSet(y))));
BINARY(LogicalOr, NumbersOf(LogicalOr(IsSet(x), IsSet(y))));
BINARY(LogicalXor, NumbersOf(LogicalXor(IsSet(x), IsSet(y))));
UNARY(LogicalNot, NumbersOf(LogicalNot(IsSet(x))));
WITH(LogicalAndScalar, a.Flag("val") ? NumbersOf(IsSet(x)) : ZerosLike(x));
WITH(LogicalOrScalar, a.Flag("val") ? OnesLike(x) : NumbersOf(IsSet(x)));
WITH(LogicalXorScalar, NumbersOf(a.Flag("val") ? LogicalNot(IsSet(x)) : IsSet(x)));
BINARY(Equal, NumbersOf(Eq(x, y)));
BINARY(NotEqual, NumbersOf(Ne(x, y)));
BINARY(GreaterEqual, NumbersOf(Ge(x, y)));
BINARY(Greater, NumbersOf(Gt(x, y)));
BINARY(LessEqual, NumbersOf(Le(x, y)));
BINARY(Less, NumbersOf(Lt(x, y)));
WITH(EqualScalar, NumbersOf(Eq(x, Val(a))));
WITH(NotEqualScalar, NumbersOf(Ne(x, Val(a))));
WITH(GreaterEqualScalar, NumbersOf(Ge(x, Val(a))));
WITH(GreaterScalar, NumbersOf(Gt(x, Val(a))));
WITH(LessEqualScalar, NumbersOf(Le(x, Val(a))));
WITH(LessScalar, NumbersOf(Lt(x, Val(a))));
UNARY(IsNaN, NumbersOf(Isnan(x)));
UNARY(IsInf, NumbersOf(Isinf(x)));
WITH(ResetNaN, Where(Isnan(x), FullLike(x, a.Number("val")), x));
WITH(ResetInf, Where(Isinf(x), FullLike(x, a.Number("val")), x));

// The condition's dimensions are the first of the others'.
const NnablaOps kWhere("Where", 3, 3, [](const Args&, In in) -> TensorList {
  std::vector<int64_t> sizes = SizesOf(in[0], 0, in[0].rank());
  sizes.resize(static_cast<size_t>(std::max(in[0].rank(), in[1].rank())), 1);
  return {Where(IsSet(Reshaped(in[0], sizes)), in[1], in[2])};
});

UNARY(Abs, Abs(x));
UNARY(Exp, Exp(x));
UNARY(Log, Log(x));
UNARY(Identity, Identity(x));
UNARY(Round, StraightThrough(Round(x, {.ties = RoundTies::kAway}), x));
UNARY(Ceil, StraightThrough(Ceil(x), x));
UNARY(Floor, StraightThrough(Floor(x), x));
UNARY(Sin, Sin(x));
UNARY(Cos, Cos(x));
UNARY(Tan, Tan(x));
UNARY(Sinh, Sinh(x));
UNARY(Cosh, Cosh(x));
UNARY(ASin, Asin(x));
UNARY(ACos, Acos(x));
UNARY(ATan, Atan(x));
BINARY(ATan2, Atan2(x, y));
UNARY(ASinh, Asinh(x));
UNARY(ACosh, Acosh(x));
UNARY(ATanh, Atanh(x));
UNARY(Erf, Erf(x));
BINARY(Mod2, Fmod(x, y));

// NNabla computes in the unsigned dtype of x. Here integers are shifted in their own dtype, and
// whole floats as 64 bits.
const NnablaOps kBitShift("BitShift", 2, 2, [](const Args& a, In in) -> TensorList {
  const Tensor x = IntegersOf(in[0]), places = Cast(in[1], x.dtype());
  const bool left = a.Text("direction") == "LEFT";
  return {NumbersOf(left ? BitwiseLeftShift(x, places) : BitwiseRightShift(x, places))};
});

const NnablaOps kBatchMatmul("BatchMatmul", 2, 2, [](const Args& a, In in) -> TensorList {
  return {Matmul(in[0], in[1], a.Flag("transpose_a"), a.Flag("transpose_b"))};
});
const NnablaOps kEinsum("Einsum", 1, kAnyInputs, [](const Args& a, In in) -> TensorList {
  return {Einsum(a.Text("equation"), std::vector<Tensor>(in.begin(), in.end()))};
});

UNARY(Unlink, Detach(x));
const NnablaOps kSink("Sink", 1, kAnyInputs, [](const Args&, In in) -> TensorList {
  Tensor y = Sum(in[0]);
  for (const Tensor& x : in.subspan(1)) y = Add(y, Sum(x));
  return {y};
});

const NnablaOps kConstant("Constant", 0, 0, [](const Args& a, In) -> TensorList {
  return {Full(Shape(absl::Span<const int64_t>(a.Ints("shape"))), a.Number("val"))};
});
const NnablaOps kArange("Arange", 0, 0, [](const Args& a, In) -> TensorList {
  return {Arange(a.Number("start"), a.Number("stop"), a.Number("step"))};
});
const NnablaOps kLinspace("Linspace", 0, 0, [](const Args& a, In) -> TensorList {
  return {Linspace(a.Number("start"), a.Number("stop"), a.Int("num"))};
});

}  // namespace
}  // namespace firn::io::internal
