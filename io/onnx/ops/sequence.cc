// Sequences and optional values. How many elements a sequence has is known when a network is bound,
// so these nodes move values about, and few of them run anything.

#include <algorithm>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using autograd::ListOf;
using autograd::NodeCall;
using Values = std::vector<BoundValue>;

const Values& ItemsOf(OnnxCall& call, size_t input) {
  const BoundValue& value = call.node.Input(input);
  if (!value.is_list()) RefuseNode("input ", input, " is expected to be a sequence");
  return value.items;
}

// A position in [-n, n), or [-n, n] where `end` is one too.
size_t PositionOf(OnnxCall& call, size_t input, size_t n, bool end) {
  const int64_t at = call.node.KnownInt(input, "position"), size = static_cast<int64_t>(n);
  const int64_t counted = at < 0 ? at + size : at;
  if (counted < 0 || counted >= size + (end ? 1 : 0)) {
    RefuseNode("position ", at, " is outside of a sequence of ", size);
  }
  return static_cast<size_t>(counted);
}

const OnnxOps kEmpty("SequenceEmpty", 11, [](OnnxCall& call) -> Step {
  call.node.Return({ListOf({})});
  return {};
});

const OnnxOps kConstruct("SequenceConstruct", 11, [](OnnxCall& call) -> Step {
  Values items;
  for (size_t i = 0; i < call.node.num_inputs(); ++i) items.push_back(call.node.Input(i));
  call.node.Return({ListOf(std::move(items))});
  return {};
});

const OnnxOps kAt("SequenceAt", 11,
                  [](OnnxCall& call) -> Step {
                    const Values& items = ItemsOf(call, 0);
                    call.node.Return({items[PositionOf(call, 1, items.size(), false)]});
                    return {};
                  },
                  {.settings = {1}});

const OnnxOps kInsert("SequenceInsert", 11,
                      [](OnnxCall& call) -> Step {
                        Values items = ItemsOf(call, 0);
                        const size_t at = call.node.Has(2) ? PositionOf(call, 2, items.size(), true)
                                                           : items.size();
                        items.insert(items.begin() + static_cast<ptrdiff_t>(at),
                                     call.node.Input(1));
                        call.node.Return({ListOf(std::move(items))});
                        return {};
                      },
                      {.settings = {2}});

const OnnxOps kErase("SequenceErase", 11,
                     [](OnnxCall& call) -> Step {
                       Values items = ItemsOf(call, 0);
                       if (items.empty())
                         RefuseNode("there is nothing to erase in an empty sequence");
                       const size_t at = call.node.Has(1) ? PositionOf(call, 1, items.size(), false)
                                                          : items.size() - 1;
                       items.erase(items.begin() + static_cast<ptrdiff_t>(at));
                       call.node.Return({ListOf(std::move(items))});
                       return {};
                     },
                     {.settings = {1}});

const OnnxOps kLength("SequenceLength", 11, [](OnnxCall& call) -> Step {
  call.node.Return(Full({}, static_cast<int64_t>(ItemsOf(call, 0).size()), DType::kI64));
  return {};
});

const OnnxOps kConcat("ConcatFromSequence", 11, [](OnnxCall& call) -> Step {
  const Values& items = ItemsOf(call, 0);
  if (items.empty()) RefuseNode("an empty sequence cannot be joined");
  const int64_t axis = call.Int("axis");
  const bool stack = call.Flag("new_axis", false);
  const Step join = One([=](In in) {
    if (stack) return Stack({in.begin(), in.end()}, axis);
    return Concat({in.begin(), in.end()}, axis);
  });
  call.node.Return(call.node.Run(join, items));
  return {};
});

// Into pieces of given sizes, of one size but for the last, or single slices, which lose the
// dimension unless keepdims says otherwise.
const OnnxOps kSplit("SplitToSequence", 11,
                     [](OnnxCall& call) -> Step {
                       const Shape& x = call.node.ShapeAt(0);
                       const int64_t axis = call.Axis(call.Int("axis", 0), x.rank());
                       const bool single = !call.node.Has(1);
                       const bool drop = single && !call.Flag("keepdims", true);
                       std::vector<int64_t> sizes;
                       if (!single && call.node.Rank(1) == 1) {
                         sizes = call.node.KnownInts(1, "split");
                       } else {
                         const int64_t each = single ? 1 : call.node.KnownInt(1, "split");
                         if (each < 1)
                           RefuseNode("input 1 is expected to be at least 1, it is ", each);
                         for (int64_t at = 0; at < x[axis]; at += each)
                           sizes.push_back(std::min(each, x[axis] - at));
                       }
                       const Step split = [=](In in) {
                         TensorList pieces;
                         for (Tensor& piece : Split(in[0], sizes, axis)) {
                           pieces.push_back(drop ? Squeeze(piece, DimList(axis)) : piece);
                         }
                         return pieces;
                       };
                       call.node.Return({ListOf(call.node.Run(split, {call.node.Input(0)}))});
                       return {};
                     },
                     {.settings = {1}});

// --- Optional values: themselves, or absent -----------------------------------------------------

const OnnxOps kOptional("Optional", 15, [](OnnxCall& call) -> Step {
  call.node.Return({call.node.Input(0)});
  return {};
});

const OnnxOps kHasElement("OptionalHasElement", 15, [](OnnxCall& call) -> Step {
  call.node.Return(Full({}, call.node.Has(0), DType::kBool));
  return {};
});

const OnnxOps kGetElement("OptionalGetElement", 15, [](OnnxCall& call) -> Step {
  if (!call.node.Has(0)) RefuseNode("an optional value that is absent is asked for its element");
  call.node.Return({call.node.Input(0)});
  return {};
});

}  // namespace
}  // namespace firn::io::internal
