// Numbers, element by element. Dtypes are as ONNX has them: those of both operands are one, which
// the result has too, so that nothing is promoted.

#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

#define FIRN_ONNX_UNARY(Name, since, f) \
  const OnnxOps k##Name(#Name, since, Unary([](const Tensor& x) { return f(x); }))

FIRN_ONNX_UNARY(Abs, 1, Abs);
FIRN_ONNX_UNARY(Acos, 7, Acos);
FIRN_ONNX_UNARY(Acosh, 9, Acosh);
FIRN_ONNX_UNARY(Asin, 7, Asin);
FIRN_ONNX_UNARY(Asinh, 9, Asinh);
FIRN_ONNX_UNARY(Atan, 7, Atan);
FIRN_ONNX_UNARY(Atanh, 9, Atanh);
FIRN_ONNX_UNARY(Ceil, 1, Ceil);
FIRN_ONNX_UNARY(Cos, 7, Cos);
FIRN_ONNX_UNARY(Cosh, 9, Cosh);
FIRN_ONNX_UNARY(Erf, 9, Erf);
FIRN_ONNX_UNARY(Exp, 1, Exp);
FIRN_ONNX_UNARY(Floor, 1, Floor);
FIRN_ONNX_UNARY(Log, 1, Log);
FIRN_ONNX_UNARY(Neg, 1, Neg);
FIRN_ONNX_UNARY(Reciprocal, 1, Reciprocal);
FIRN_ONNX_UNARY(Sign, 9, Sign);
FIRN_ONNX_UNARY(Sin, 7, Sin);
FIRN_ONNX_UNARY(Sinh, 9, Sinh);
FIRN_ONNX_UNARY(Sqrt, 1, Sqrt);
FIRN_ONNX_UNARY(Tan, 7, Tan);

// Integers are divided as in C.
Tensor Quotient(const Tensor& x, const Tensor& y) {
  return Div(x, y, IsIntegral(x.dtype()) ? DivRounding::kTrunc : DivRounding::kNone);
}
// The result has the dtype of the base.
Tensor Power(const Tensor& x, const Tensor& y) { return Cast(Pow(x, y), x.dtype()); }

// Up to opset 6 an attribute says where the second operand lies.
#define FIRN_ONNX_BINARY(Name, f)                                                      \
  const OnnxOps k##Name##Laid(                                                         \
      #Name, 1, BinaryLaid([](const Tensor& x, const Tensor& y) { return f(x, y); })); \
  const OnnxOps k##Name(#Name, 7, Binary([](const Tensor& x, const Tensor& y) { return f(x, y); }))

FIRN_ONNX_BINARY(Add, Add);
FIRN_ONNX_BINARY(Div, Quotient);
FIRN_ONNX_BINARY(Mul, Mul);
FIRN_ONNX_BINARY(Pow, Power);
FIRN_ONNX_BINARY(Sub, Sub);

const OnnxOps kRound("Round", 11, Unary([](const Tensor& x) { return Round(x); }));

// Takes lists too, and is nothing that runs.
const OnnxOps kIdentity("Identity", 1, [](OnnxCall& call) -> Step {
  call.node.Return({call.node.Input(0)});
  return {};
});

// The sign of the divisor, which a 0 has too; or with fmod that of the dividend.
Tensor Modulo(const Tensor& x, const Tensor& y) {
  const Tensor rest = Remainder(x, y);
  return IsFloating(x.dtype()) ? Copysign(rest, y) : rest;
}

const OnnxOps kMod("Mod", 10, [](OnnxCall& call) -> Step {
  const bool as_c = call.Flag("fmod", false);
  if (!as_c && IsFloating(call.node.DTypeAt(0)) && call.opset() < 28) {
    RefuseNode("floating inputs are expected to come with attribute \"fmod\" = 1");
  }
  return One([as_c](In in) { return as_c ? Fmod(in[0], in[1]) : Modulo(in[0], in[1]); });
});

Tensor Reduced(In in, Tensor (*f)(const Tensor&, const Tensor&)) {
  Tensor result = in[0];
  for (size_t i = 1; i < in.size(); ++i) result = f(result, in[i]);
  return result;
}

Tensor SumOf(In in) { return in.size() == 1 ? in[0] : AddN({in.begin(), in.end()}); }

// Maximum and Minimum give a NaN where either is one, as NumPy's, which ONNX refers to.
const OnnxOps kMax("Max", 1, Variadic([](In in) { return Reduced(in, Maximum); }));
const OnnxOps kMin("Min", 1, Variadic([](In in) { return Reduced(in, Minimum); }));
const OnnxOps kSum("Sum", 1, Variadic(SumOf));
const OnnxOps kMean("Mean", 1, Variadic([](In in) {
                      return Div(SumOf(in), Tensor(static_cast<double>(in.size())));
                    }));

// Bounds are attributes up to opset 10, and inputs of one element then, either of which may be
// missing. Where the lower one is the greater, the upper one is the result.
const OnnxOps kClipAttributes("Clip", 1, [](OnnxCall& call) -> Step {
  const double low = call.Float("min", -3.4028234663852886e38);
  const double high = call.Float("max", 3.4028234663852886e38);
  return One([=](In in) { return Clamp(in[0], Tensor(low), Tensor(high)); });
});

const OnnxOps kClip("Clip", 11,
                    [](OnnxCall& call) -> Step {
                      const bool low = call.node.Has(1), high = call.node.Has(2);
                      for (size_t i = 1; i < call.node.num_inputs(); ++i) {
                        if (call.node.Has(i) && call.node.ShapeAt(i).num_elements() != 1) {
                          RefuseNode("input ", i, " is expected to have one element, it is ",
                                     call.node.Spec(i).ToString());
                        }
                      }
                      if (!low && !high) return One([](In in) { return Identity(in[0]); });
                      return One([=](In in) {
                        return Clamp(in[0], low ? Reshape(in[1], {}) : Tensor(),
                                     high ? Reshape(in[2], {}) : Tensor());
                      });
                    },
                    {.settings = {1, 2}});

// Types had words before they had numbers.
DType CastType(const OnnxNodeAttributes& node) {
  if (node.opset() >= 6) {
    node.Int("to");
    return node.Element("to", DType::kF32);
  }
  const std::string word = node.Text("to");
  const OnnxElement* const element = FindOnnxElement(word);
  if (element == nullptr)
    RefuseNode("attribute \"to\" is expected to be a type, got \"", word, "\"");
  return ValueOrRaise(TryOnnxDType(element->id), "onnx");
}

Step LowerCast(OnnxCall& call) {
  const DType to = CastType(call);
  return One([to](In in) { return Cast(in[0], to); });
}
const OnnxOps kCastToWord("Cast", 1, LowerCast, {.check = CastType});
const OnnxOps kCast("Cast", 6, LowerCast, {.check = CastType});

const OnnxOps kCastLike("CastLike", 15, [](OnnxCall& call) -> Step {
  const DType to = call.node.DTypeAt(1);
  return One([to](In in) { return Cast(in[0], to); });
});

const OnnxOps kWhere("Where", 9, [](OnnxCall&) -> Step {
  return One([](In in) { return Where(in[0], in[1], in[2]); });
});

}  // namespace
}  // namespace firn::io::internal
