#include "device/simd.h"
#include "tensor/ops/reorder.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(reorder) {
  s.Reference([](double x) { return x; });
  s.Add("to row-major", {Normal({2, 16, 3})}, ReorderAttrs{});
  s.Add("to blocks", {Normal({2, 32, 3, 5})}, ReorderAttrs{.channel_block = kChannelBlock});
  s.Add("a scalar", {Normal({})}, ReorderAttrs{});
  s.Add("to NHWC", {Normal({2, 24, 3, 5})}, ReorderAttrs{.channel_block = 24});
  s.Add("integers", {Integers({2, 16, 2}, -5, 5)}, ReorderAttrs{.channel_block = kChannelBlock});
  s.Add("bool", {Booleans({2, 16, 3})}, ReorderAttrs{.channel_block = kChannelBlock});
  s.AddError("channels", {Normal({2, 12, 5})}, ReorderAttrs{.channel_block = 8},
             "has no channels in blocks of 8");
  s.AddError("rank", {Normal({16, 16})}, ReorderAttrs{.channel_block = 8},
             "has no channels in blocks of 8");
  s.AddError("block", {Normal({2, 16, 3})}, ReorderAttrs{.channel_block = -8}, "channel_block -8");
}

}  // namespace firn::testing
