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

// x with its last `dims` dimensions padded. Throws, naming the layer, when x has fewer, or there is
// neither one number nor a pair for each of them.
Tensor PadLast(const char* layer, const Tensor& x, int dims, const std::vector<int64_t>& padding,
               const PadOptions& options);

template <int kDims>
struct ConstantPadFunction {
  static constexpr const char* kNames[3] = {"ConstantPad1d", "ConstantPad2d", "ConstantPad3d"};
  static constexpr const char* kName = kNames[kDims - 1];
  using Options = ConstantPadOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {.value = o.value});
  }
};
using ConstantPad1d = FunctionLayer<ConstantPadFunction<1>>;
using ConstantPad2d = FunctionLayer<ConstantPadFunction<2>>;
using ConstantPad3d = FunctionLayer<ConstantPadFunction<3>>;

template <int kDims>
struct ZeroPadFunction {
  static constexpr const char* kNames[3] = {"ZeroPad1d", "ZeroPad2d", "ZeroPad3d"};
  static constexpr const char* kName = kNames[kDims - 1];
  using Options = PaddingOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {});
  }
};
using ZeroPad1d = FunctionLayer<ZeroPadFunction<1>>;
using ZeroPad2d = FunctionLayer<ZeroPadFunction<2>>;
using ZeroPad3d = FunctionLayer<ZeroPadFunction<3>>;

template <int kDims>
struct ReflectionPadFunction {
  static constexpr const char* kNames[3] = {"ReflectionPad1d", "ReflectionPad2d",
                                            "ReflectionPad3d"};
  static constexpr const char* kName = kNames[kDims - 1];
  using Options = PaddingOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {.mode = PadMode::kReflect});
  }
};
using ReflectionPad1d = FunctionLayer<ReflectionPadFunction<1>>;
using ReflectionPad2d = FunctionLayer<ReflectionPadFunction<2>>;
using ReflectionPad3d = FunctionLayer<ReflectionPadFunction<3>>;

template <int kDims>
struct ReplicationPadFunction {
  static constexpr const char* kNames[3] = {"ReplicationPad1d", "ReplicationPad2d",
                                            "ReplicationPad3d"};
  static constexpr const char* kName = kNames[kDims - 1];
  using Options = PaddingOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {.mode = PadMode::kReplicate});
  }
};
using ReplicationPad1d = FunctionLayer<ReplicationPadFunction<1>>;
using ReplicationPad2d = FunctionLayer<ReplicationPadFunction<2>>;
using ReplicationPad3d = FunctionLayer<ReplicationPadFunction<3>>;

template <int kDims>
struct CircularPadFunction {
  static constexpr const char* kNames[3] = {"CircularPad1d", "CircularPad2d", "CircularPad3d"};
  static constexpr const char* kName = kNames[kDims - 1];
  using Options = PaddingOptions;
  static Tensor Call(const Tensor& x, const Options& o) {
    return PadLast(kName, x, kDims, o.padding, {.mode = PadMode::kCircular});
  }
};
using CircularPad1d = FunctionLayer<CircularPadFunction<1>>;
using CircularPad2d = FunctionLayer<CircularPadFunction<2>>;
using CircularPad3d = FunctionLayer<CircularPadFunction<3>>;

}  // namespace firn::nn

#endif  // FIRN_NN_PADDING_H_
