// channel_sum: one pass over the tensor in its own layout; each image's sums are added in double.

#include "tensor/ops/channel_sum.h"

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/kernels/cpu/channels.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/op.h"
#include "tensor/ops/expand.h"
#include "tensor/ops/reshape.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  c.set_out(0, c.dtype(0), Shape({c.shape(0)[1]}));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    const cpu::ChannelView v = cpu::ViewChannels(k.in_spec(0));
    const T* x = k.in<T>(0);
    T* out = k.out<T>();
    ParallelFor(v.groups, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, v.batch * v.run)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t g = begin; g < end; ++g) {
                    double sums[kChannelBlock] = {};
                    for (int64_t n = 0; n < v.batch; ++n) {
                      const T* run = x + v.offset(n, g);
                      Acc lanes[cpu::kLanes] = {}, folded[kChannelBlock];
                      cpu::ForEachLane(v.run, [&](int64_t i, int64_t j) {
                        lanes[j] += static_cast<Acc>(run[i]);
                      });
                      cpu::FoldLanes(lanes, v.block, folded);
                      for (int64_t b = 0; b < v.block; ++b)
                        sums[b] += static_cast<double>(folded[b]);
                    }
                    for (int64_t b = 0; b < v.block; ++b) {
                      out[g * v.block + b] = cpu::ConvertTo<T>(sums[b]);
                    }
                  }
                });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const Shape& x = g.input_shape(0);
  Dims dims(x.rank(), 1);
  dims[1] = x[1];
  g.set_grad_input(0, Expand(Reshape(g.grad_output(), dims.span()), x));
}

FIRN_REGISTER_OP(channel_sum) {
  return {
      .name = "channel_sum",
      .doc = "The sum over every dimension but the second.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2}},
      .outputs = {{.name = "sum"}},
      .infer = Infer,
      .grad = Grad,
      .kernels = {{.name = "loop", .layouts = cpu::ChannelLayouts, .run = Run}},
  };
}

}  // namespace

Tensor inner::ChannelSum(const Tensor& x) {
  static const OpDef& op = Op("channel_sum");
  return Apply1(op, {x});
}

}  // namespace firn
