#include "firn/tensor/ops/conv/conv_samples.h"
#include "firn/tensor/ops/conv/images_samples.h"

namespace firn::testing {
namespace {

ConvPadding PaddingFrom(GoldenArgs& args) {
  const std::string text = args.Text("padding");
  if (text == "same") return kSame;
  if (text == "valid") return kValid;
  return SizesFrom(args, "padding", 0);
}

template <Conv* kConv>
Tensor GoldenConv(GoldenArgs& args) {
  return kConv(args["x"], args["weight"], args["bias"],
               {.stride = SizesFrom(args, "stride", 1),
                .padding = PaddingFrom(args),
                .dilation = SizesFrom(args, "dilation", 1),
                .groups = args.Int("groups", 1)});
}

template <ConvTranspose* kConv>
Tensor GoldenTransposed(GoldenArgs& args) {
  return kConv(args["x"], args["weight"], args["bias"],
               {.stride = SizesFrom(args, "stride", 1),
                .padding = SizesFrom(args, "padding", 0),
                .output_padding = SizesFrom(args, "output_padding", 0),
                .groups = args.Int("groups", 1),
                .dilation = SizesFrom(args, "dilation", 1)});
}

FIRN_REGISTER_GOLDEN(conv1d) { return GoldenConv<Conv1d>(args); }
FIRN_REGISTER_GOLDEN(conv2d) { return GoldenConv<Conv2d>(args); }
FIRN_REGISTER_GOLDEN(conv3d) { return GoldenConv<Conv3d>(args); }
FIRN_REGISTER_GOLDEN(conv_transpose1d) { return GoldenTransposed<ConvTranspose1d>(args); }
FIRN_REGISTER_GOLDEN(conv_transpose2d) { return GoldenTransposed<ConvTranspose2d>(args); }
FIRN_REGISTER_GOLDEN(conv_transpose3d) { return GoldenTransposed<ConvTranspose3d>(args); }

}  // namespace
}  // namespace firn::testing
