#ifndef FIRN_NN_PADDING_H_
#define FIRN_NN_PADDING_H_

// Padding of the last one, two or three dimensions as layers: firn::Pad with its modes.

#include <vector>

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/shape/pad.h"

namespace firn::nn {

// How many elements are added: one number for all sides, or pairs (before, after), that of the LAST
// dimension first, as in firn::Pad: {left, right, top, bottom}. Negative numbers cut off.
struct PaddingOptions {
  std::vector<int64_t> padding = {0};
  template <class V>
  void Visit(V& v) {
    v.Field("padding", padding);
  }
};
struct ConstantPadOptions {
  std::vector<int64_t> padding = {0};
  double value = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("padding", padding);
    v.Field("value", value);
  }
};

// Throws unless there is one number, or a pair for each of `dims` dimensions.
void CheckPadding(const char* where, int dims, const std::vector<int64_t>& padding);
// x with its last `dims` dimensions padded. Throws, naming the layer, when x has fewer.
Tensor PadLast(const char* layer, const Tensor& x, int dims, const std::vector<int64_t>& padding,
               const PadOptions& options);

// The last dimensions with `value` around them.
template <internal::LayerName kLayer, int kDims>
struct ConstantPadFunction {
  static constexpr const char* kName = kLayer.text;
  using Options = ConstantPadOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {.value = o.value});
  }
  static void Check(const Options& o, const char* where) { CheckPadding(where, kDims, o.padding); }
};
// The last dimensions with zeros around them (ZeroPad), the inner elements mirrored at the border
// (ReflectionPad), the border repeated (ReplicationPad), or the elements of the other side
// (CircularPad).
template <internal::LayerName kLayer, int kDims, PadMode kMode>
struct PadFunction {
  static constexpr const char* kName = kLayer.text;
  using Options = PaddingOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {.mode = kMode});
  }
  static void Check(const Options& o, const char* where) { CheckPadding(where, kDims, o.padding); }
};

using ConstantPad1d = FunctionLayer<ConstantPadFunction<"ConstantPad1d", 1>>;
using ConstantPad2d = FunctionLayer<ConstantPadFunction<"ConstantPad2d", 2>>;
using ConstantPad3d = FunctionLayer<ConstantPadFunction<"ConstantPad3d", 3>>;
using ZeroPad1d = FunctionLayer<PadFunction<"ZeroPad1d", 1, PadMode::kConstant>>;
using ZeroPad2d = FunctionLayer<PadFunction<"ZeroPad2d", 2, PadMode::kConstant>>;
using ZeroPad3d = FunctionLayer<PadFunction<"ZeroPad3d", 3, PadMode::kConstant>>;
using ReflectionPad1d = FunctionLayer<PadFunction<"ReflectionPad1d", 1, PadMode::kReflect>>;
using ReflectionPad2d = FunctionLayer<PadFunction<"ReflectionPad2d", 2, PadMode::kReflect>>;
using ReflectionPad3d = FunctionLayer<PadFunction<"ReflectionPad3d", 3, PadMode::kReflect>>;
using ReplicationPad1d = FunctionLayer<PadFunction<"ReplicationPad1d", 1, PadMode::kReplicate>>;
using ReplicationPad2d = FunctionLayer<PadFunction<"ReplicationPad2d", 2, PadMode::kReplicate>>;
using ReplicationPad3d = FunctionLayer<PadFunction<"ReplicationPad3d", 3, PadMode::kReplicate>>;
using CircularPad1d = FunctionLayer<PadFunction<"CircularPad1d", 1, PadMode::kCircular>>;
using CircularPad2d = FunctionLayer<PadFunction<"CircularPad2d", 2, PadMode::kCircular>>;
using CircularPad3d = FunctionLayer<PadFunction<"CircularPad3d", 3, PadMode::kCircular>>;

}  // namespace firn::nn

#endif  // FIRN_NN_PADDING_H_
