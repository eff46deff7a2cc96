// Choice of elements, and writing to chosen ones.

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

const OnnxOps kGather("Gather", 1, [](OnnxCall& call) -> Step {
  const int64_t axis = call.Axis(call.Int("axis", 0), call.node.Rank(0));
  return One([axis](In in) { return IndexSelect(in[0], axis, in[1]); });
});

const OnnxOps kGatherElements("GatherElements", 11, [](OnnxCall& call) -> Step {
  const int64_t axis = call.Axis(call.Int("axis", 0), call.node.Rank(0));
  return One([axis](In in) { return Gather(in[0], axis, in[1]); });
});

const OnnxOps kGatherNd("GatherND", 11, [](OnnxCall& call) -> Step {
  const int64_t batch_dims = call.Int("batch_dims", 0);
  return One([batch_dims](In in) { return GatherNd(in[0], in[1], batch_dims); });
});

// What is done with several elements for one place; nothing: the last stays.
std::optional<ScatterReduction> ReductionOf(OnnxCall& call) {
  const std::string how = call.OneOf("reduction", "none", {"none", "add", "mul", "max", "min"});
  if (how == "none") return std::nullopt;
  return how == "add"   ? ScatterReduction::kSum
         : how == "mul" ? ScatterReduction::kProd
         : how == "max" ? ScatterReduction::kAmax
                        : ScatterReduction::kAmin;
}

Step LowerScatter(OnnxCall& call) {
  const int64_t axis = call.Axis(call.Int("axis", 0), call.node.Rank(0));
  const auto reduce = ReductionOf(call);
  return One([=](In in) {
    return reduce ? ScatterReduce(in[0], axis, in[1], in[2], *reduce)
                  : Scatter(in[0], axis, in[1], in[2]);
  });
}

const OnnxOps kScatter("Scatter", 9, LowerScatter);
const OnnxOps kScatterElements("ScatterElements", 11, LowerScatter);

const OnnxOps kScatterNd("ScatterND", 11, [](OnnxCall& call) -> Step {
  const auto reduce = ReductionOf(call);
  return One([reduce](In in) { return ScatterNd(in[0], in[1], in[2], reduce); });
});

// Indices from -depth on count from the end; others give a line of off values.
const OnnxOps kOneHot("OneHot", 9,
                      [](OnnxCall& call) -> Step {
                        const int rank = call.node.Rank(0);
                        const auto depth = static_cast<int64_t>(call.node.KnownNumber(1, "depth"));
                        const int64_t axis = call.Axis(call.Int("axis", -1), rank + 1);
                        if (call.node.Spec(2).num_elements() != 2) {
                          RefuseNode("input 2 is expected to hold two values, it is ",
                                     call.node.Spec(2).ToString());
                        }
                        return One([=](In in) {
                          const Tensor at = Cast(in[0], DType::kI64);
                          const Tensor counted =
                              Where(Lt(at, Tensor(0)), Add(at, Tensor(depth)), at);
                          std::vector<int64_t> line(static_cast<size_t>(rank + 1), 1);
                          line[static_cast<size_t>(axis)] = depth;
                          const Tensor all =
                              Arange(int64_t{0}, depth, int64_t{1},
                                     {.dtype = DType::kI64, .device = in[0].device()});
                          const Tensor on = Eq(Unsqueeze(counted, axis), Reshape(all, line));
                          return Where(on, Select(in[2], 0, 1), Select(in[2], 0, 0));
                        });
                      },
                      {.settings = {1}});

const OnnxOps kTrilu("Trilu", 14,
                     [](OnnxCall& call) -> Step {
                       const bool upper = call.Flag("upper", true);
                       const int64_t k = call.node.Has(1) ? call.node.KnownInt(1, "k") : 0;
                       return One([=](In in) { return upper ? Triu(in[0], k) : Tril(in[0], k); });
                     },
                     {.settings = {1}});

const OnnxOps kReverseSequence("ReverseSequence", 10, [](OnnxCall& call) -> Step {
  const int64_t batch = call.Axis(call.Int("batch_axis", 1), call.node.Rank(0));
  const int64_t time = call.Axis(call.Int("time_axis", 0), call.node.Rank(0));
  return One([=](In in) { return ReverseSequence(in[0], in[1], time, batch); });
});

// --- Results whose shapes elements determine ----------------------------------------------------

const OnnxOps kNonZero("NonZero", 9, [](OnnxCall& call) -> Step {
  call.node.Return(Contiguous(Transpose(Nonzero(call.node.Known(0, "X")), 0, 1)));
  return {};
});

const OnnxOps kUnique("Unique", 11, [](OnnxCall& call) -> Step {
  UniqueOptions options{.sorted = call.Flag("sorted", true)};
  if (call.Has("axis")) options.dim = call.Axis(call.Int("axis"), call.node.Rank(0));
  const UniqueResult r = Unique(call.node.Known(0, "X"), options);
  const auto constant = autograd::NodeCall::Constant;
  call.node.Return({constant(r.values), constant(r.first_index), constant(Reshape(r.inverse, {-1})),
                    constant(r.counts)});
  return {};
});

// Those elements, or slices along an axis, whose number the condition marks.
const OnnxOps kCompress("Compress", 9,
                        [](OnnxCall& call) -> Step {
                          const Tensor chosen =
                              Reshape(Nonzero(call.node.Known(1, "condition")), {-1});
                          const BoundValue at = autograd::NodeCall::Constant(chosen);
                          const bool flat = !call.Has("axis");
                          const int64_t axis =
                              flat ? 0 : call.Axis(call.Int("axis"), call.node.Rank(0));
                          const Step step = One([=](In in) {
                            return IndexSelect(flat ? Reshape(in[0], {-1}) : in[0], axis, in[1]);
                          });
                          call.node.Return(call.node.Run(step, {call.node.Input(0), at}));
                          return {};
                        },
                        {.settings = {1}});

}  // namespace
}  // namespace firn::io::internal
