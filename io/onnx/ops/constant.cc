// Values that need no input, or only its shape.

#include <cmath>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// More elements than this are taken for a mistake, before there is memory for them.
constexpr double kMostElements = 1 << 28;

Step LowerConstant(OnnxCall& call) {
  if (call.Has("value")) {
    call.node.Return(call.Tensor("value"));
  } else if (call.Has("value_float")) {
    call.node.Return(Full({}, call.Float("value_float")));
  } else if (call.Has("value_int")) {
    call.node.Return(Full({}, call.Int("value_int"), DType::kI64));
  } else if (call.Has("value_floats")) {
    call.node.Return(FromVector(*call.Floats("value_floats")));
  } else {
    call.node.Return(FromVector(*call.Ints("value_ints")));
  }
  return {};
}
void CheckConstant(const OnnxNodeAttributes& node) {
  for (const char* known : {"value", "value_float", "value_int", "value_floats", "value_ints"}) {
    if (node.Has(known)) return;
  }
  RefuseUnsupported(
      "a constant is expected to be a tensor, numbers or a number, not strings or a sparse tensor");
}
const OnnxOps kConstant("Constant", 1, LowerConstant, {.check = CheckConstant});

const OnnxOps kConstantOfShape("ConstantOfShape", 9,
                               [](OnnxCall& call) -> Step {
                                 const Tensor given = call.Tensor("value");
                                 const Tensor value =
                                     given.defined() ? Reshape(given, Shape{}) : Full({}, 0);
                                 const Shape shape(call.node.KnownInts(0, "input"));
                                 call.node.Return(
                                     Expand(value, shape));  // takes the memory of one element
                                 return {};
                               },
                               {.settings = {0}});

Step LowerEyeLike(OnnxCall& call) {
  const Shape& x = call.node.ShapeAt(0);
  if (x.rank() != 2) RefuseNode("a matrix is expected, got ", x.ToString());
  const DType dtype = call.Element("dtype", call.node.DTypeAt(0));
  call.node.Return(Eye(x[0], x[1], call.Int("k", 0), dtype));
  return {};
}
const OnnxOps kEyeLike("EyeLike", 9, LowerEyeLike, {.check = HasElement("dtype")});

// ceil((limit - start) / delta) numbers, or none.
const OnnxOps kRange("Range", 11,
                     [](OnnxCall& call) -> Step {
                       const DType dtype = call.node.DTypeAt(0);
                       const ArangeOptions options{.dtype = dtype};
                       const auto check = [](double n) {
                         if (!(n <= kMostElements))
                           RefuseNode("at most 2^28 elements are expected, got ", n);
                         return n > 0;
                       };
                       if (IsFloating(dtype)) {
                         const double start = call.node.KnownNumber(0, "start");
                         const double limit = call.node.KnownNumber(1, "limit");
                         const double delta = call.node.KnownNumber(2, "delta");
                         const bool any = check(std::ceil((limit - start) / delta));
                         call.node.Return(any ? Arange(start, limit, delta, options)
                                              : Empty({0}, dtype));
                       } else {
                         const int64_t start = call.node.KnownInt(0, "start");
                         const int64_t limit = call.node.KnownInt(1, "limit");
                         const int64_t delta = call.node.KnownInt(2, "delta");
                         if (delta == 0) RefuseNode("input 2 (delta) is expected to be no 0");
                         const double span =
                             static_cast<double>(limit) - static_cast<double>(start);
                         const bool any = check(std::ceil(span / static_cast<double>(delta)));
                         call.node.Return(any ? Arange(start, limit, delta, options)
                                              : Empty({0}, dtype));
                       }
                       return {};
                     },
                     {.settings = {0, 1, 2}});

}  // namespace
}  // namespace firn::io::internal
