#ifndef FIRN_NN_FOLD_H_
#define FIRN_NN_FOLD_H_

// Windows as columns and back, as layers; options, formulas and shapes are those of the operations.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/conv/unfold.h"

namespace firn::nn {

struct UnfoldFunction {
  static constexpr const char* kName = "Unfold";
  using Options = UnfoldOptions;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Unfold(x, o); }
  static void Describe(const Options& o, Describer& d) {
    d.Field("kernel", o.kernel).Field("dilation", o.dilation, 1).Field("padding", o.padding, 0);
    d.Field("stride", o.stride, 1).Field("dims", o.dims, 0);
  }
};
using Unfold = FunctionLayer<UnfoldFunction>;

struct FoldFunction {
  static constexpr const char* kName = "Fold";
  using Options = FoldOptions;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Fold(x, o); }
  static void Describe(const Options& o, Describer& d) {
    d.Field("output_size", o.output_size).Field("kernel", o.kernel);
    d.Field("dilation", o.dilation, 1).Field("padding", o.padding, 0);
    d.Field("stride", o.stride, 1).Field("dims", o.dims, 0);
  }
};
using Fold = FunctionLayer<FoldFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_FOLD_H_
