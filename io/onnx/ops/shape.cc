// Shapes: sizes are known when a network is bound, so that what computes them is gone from runs.

#include <algorithm>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Sizes = std::vector<int64_t>;

Step ToShape(Sizes sizes) {
  return One([sizes = std::move(sizes)](In in) { return Reshape(in[0], sizes); });
}

const OnnxOps kShape("Shape", 1, [](OnnxCall& call) -> Step {
  const Shape& shape = call.node.ShapeAt(0);
  const int64_t rank = shape.rank();
  const auto clamped = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamped(call.Int("start", 0)), end = clamped(call.Int("end", rank));
  Sizes sizes;
  for (int64_t i = start; i < end; ++i) sizes.push_back(shape[i]);
  call.node.Return(FromVector(std::move(sizes)));
  return {};
});

const OnnxOps kSize("Size", 1, [](OnnxCall& call) -> Step {
  call.node.Return(FromVector(Sizes{call.node.ShapeAt(0).num_elements()}, Shape{}));
  return {};
});

// 0 stands for the size of the input (unless allowzero says otherwise), -1 for what is left.
Step LowerReshape(OnnxCall& call, Sizes sizes) {
  const Shape& x = call.node.ShapeAt(0);
  const bool zero = call.Flag("allowzero", false);
  for (size_t i = 0; i < sizes.size() && !zero; ++i) {
    if (sizes[i] != 0) continue;
    if (static_cast<int64_t>(i) >= x.rank()) {
      RefuseNode("size ", i, " is expected to be no 0, since input 0 is ", x.ToString());
    }
    sizes[i] = x[static_cast<int64_t>(i)];
  }
  return ToShape(std::move(sizes));
}

const OnnxOps kReshapeAttribute("Reshape", 1, [](OnnxCall& call) -> Step {
  return LowerReshape(call, call.Ints("shape").value_or(Sizes()));
});
const OnnxOps kReshape("Reshape", 5,
                       [](OnnxCall& call) -> Step {
                         return LowerReshape(call, call.node.KnownInts(1, "shape"));
                       },
                       {.settings = {1}});

const OnnxOps kFlatten("Flatten", 1, [](OnnxCall& call) -> Step {
  const Shape& x = call.node.ShapeAt(0);
  const int64_t rank = x.rank(), given = call.Int("axis", 1),
                axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) {
    RefuseNode("axis ", given, " is expected in [", -rank, ", ", rank, "]");
  }
  Sizes sizes = {1, 1};
  for (int64_t i = 0; i < rank; ++i) sizes[i < axis ? 0 : 1] *= x[i];
  return ToShape(std::move(sizes));
});

const OnnxOpOptions kAxesInput = {.settings = {1}};

Step LowerSqueeze(OnnxCall& call) {
  const Shape& x = call.node.ShapeAt(0);
  const auto given = call.IntsOf("axes", 1);
  Sizes axes;
  if (given) {
    axes = call.Axes(*given, x.rank());
    for (int64_t axis : axes) {
      if (x[axis] != 1) RefuseNode("dimension ", axis, " is expected to be 1, it is ", x[axis]);
    }
  }
  Sizes sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool goes = given ? std::find(axes.begin(), axes.end(), i) != axes.end() : x[i] == 1;
    if (!goes) sizes.push_back(x[i]);
  }
  return ToShape(std::move(sizes));
}

Step LowerUnsqueeze(OnnxCall& call) {
  const Shape& x = call.node.ShapeAt(0);
  const auto given = call.IntsOf("axes", 1);
  if (!given) RefuseNode("\"axes\" is missing");
  const int rank = x.rank() + static_cast<int>(given->size());
  const Sizes axes = call.Axes(*given, rank);
  Sizes sizes;
  for (int64_t i = 0, from = 0; i < rank; ++i) {
    const bool added = std::find(axes.begin(), axes.end(), i) != axes.end();
    sizes.push_back(added ? 1 : x[from++]);
  }
  return ToShape(std::move(sizes));
}

const OnnxOps kSqueeze("Squeeze", 1, LowerSqueeze, kAxesInput);
const OnnxOps kUnsqueeze("Unsqueeze", 1, LowerUnsqueeze, kAxesInput);

const OnnxOps kTranspose("Transpose", 1, [](OnnxCall& call) -> Step {
  const int rank = call.node.Rank(0);
  auto perm = call.Ints("perm");
  if (!perm) {
    perm.emplace();
    for (int64_t i = rank; i-- > 0;) perm->push_back(i);
  }
  const DimList dims(call.Axes(*perm, rank));
  if (static_cast<int>(dims.size()) != rank) {
    RefuseNode("attribute \"perm\" is expected to have ", rank, " entries, got ", dims.size());
  }
  return One([dims](In in) { return Permute(in[0], dims); });
});

const OnnxOps kExpand("Expand", 8,
                      [](OnnxCall& call) -> Step {
                        const Shape wanted(call.node.KnownInts(1, "shape"));
                        const Shape shape =
                            ValueOrRaise(BroadcastShapes(call.node.ShapeAt(0), wanted), "expand");
                        return One([shape](In in) { return Expand(in[0], shape); });
                      },
                      {.settings = {1}});

// Before version 6 along one axis.
const OnnxOps kTileAxis("Tile", 1,
                        [](OnnxCall& call) -> Step {
                          const int rank = call.node.Rank(0);
                          Sizes repeats(static_cast<size_t>(rank), 1);
                          // Numbers of x's type.
                          const auto whole = [&](size_t input, const char* what) {
                            const double n = call.node.KnownNumber(input, what);
                            if (n >= -1e9 && n <= 1e9) return static_cast<int64_t>(n);
                            RefuseNode("input ", input, " (", what,
                                       ") is expected to be a whole number up to 1e9, it is ", n);
                          };
                          const int64_t axis = call.Axis(whole(2, "axis"), rank);
                          repeats[static_cast<size_t>(axis)] = whole(1, "tiles");
                          return One([repeats](In in) { return Tile(in[0], repeats); });
                        },
                        {.settings = {1, 2}});
const OnnxOps kTile("Tile", 6,
                    [](OnnxCall& call) -> Step {
                      const Sizes repeats = call.node.KnownInts(1, "repeats");
                      if (static_cast<int>(repeats.size()) != call.node.Rank(0)) {
                        RefuseNode("input 1 is expected to have ", call.node.Rank(0),
                                   " elements, it has ", repeats.size());
                      }
                      return One([repeats](In in) { return Tile(in[0], repeats); });
                    },
                    {.settings = {1}});

const OnnxOps kConcat("Concat", 1, [](OnnxCall& call) -> Step {
  const int64_t given = call.opset() < 4 ? call.Int("axis", 1) : call.Int("axis");
  const int64_t axis = call.Axis(given, call.node.Rank(0));
  return One([axis](In in) { return Concat({in.begin(), in.end()}, axis); });
});

// Into as many pieces as the node has outputs, of given sizes or of one, the last of which may be
// smaller.
const OnnxOps kSplit("Split", 1,
                     [](OnnxCall& call) -> Step {
                       const Shape& x = call.node.ShapeAt(0);
                       const int64_t axis = call.Axis(call.Int("axis", 0), x.rank());
                       const auto outputs = static_cast<int64_t>(call.node.num_outputs());
                       if (outputs == 0) RefuseNode("an output is expected, there is none");
                       auto sizes = call.IntsOf("split", 1);
                       if (!sizes) {
                         const int64_t n = call.Int("num_outputs", outputs);
                         if (n != outputs || (!call.Has("num_outputs") && x[axis] % n != 0)) {
                           RefuseNode("dimension ", axis, " of ", x.ToString(),
                                      " is expected to make ", outputs, " equal pieces");
                         }
                         sizes.emplace();
                         const int64_t each = (x[axis] + n - 1) / n;
                         for (int64_t at = 0, i = 0; i < n; at += each, ++i) {
                           sizes->push_back(std::clamp<int64_t>(x[axis] - at, 0, each));
                         }
                       }
                       return [sizes = *sizes, axis](In in) {
                         const std::vector<Tensor> pieces = Split(in[0], sizes, axis);
                         return TensorList(pieces.begin(), pieces.end());
                       };
                     },
                     {.settings = {1}});

// --- Slices -------------------------------------------------------------------------------------

struct Cut {
  int64_t axis, start, end, step;
};

// Counts as ONNX does: from the end where negative, and then cut off at the ends.
Cut CutOf(const Shape& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x[axis];
  if (step == 0) RefuseNode("a step of a slice is expected to be no 0");
  const auto counted = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  if (step > 0) return {axis, counted(start, 0, size), counted(end, 0, size), step};
  if (size == 0) return {axis, 0, 0, 1};
  // Before the first element is -1, which Slice would count from the end.
  const int64_t last = counted(end, -1, size - 1);
  return {axis, counted(start, 0, size - 1), last == -1 ? kEnd : last, step};
}

Step LowerSlice(OnnxCall& call, const Sizes& starts, const Sizes& ends, Sizes axes, Sizes steps) {
  const Shape& x = call.node.ShapeAt(0);
  for (size_t i = axes.size(); i < starts.size() && axes.size() < starts.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  steps.resize(std::max(steps.size(), starts.size()), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    RefuseNode("starts, ends, axes and steps are expected to be as many, got ", starts.size(), ", ",
               ends.size(), ", ", axes.size(), " and ", steps.size());
  }
  axes = call.Axes(axes, x.rank());
  std::vector<Cut> cuts;
  for (size_t i = 0; i < starts.size(); ++i) {
    cuts.push_back(CutOf(x, axes[i], starts[i], ends[i], steps[i]));
  }
  return One([cuts](In in) {
    Tensor y = in[0];
    for (const Cut& c : cuts) y = Slice(y, c.axis, c.start, c.end, c.step);
    return cuts.empty() ? Identity(y) : y;
  });
}

const OnnxOps kSliceAttributes("Slice", 1, [](OnnxCall& call) -> Step {
  const auto starts = call.Ints("starts"), ends = call.Ints("ends");
  if (!starts || !ends) RefuseNode("attributes \"starts\" and \"ends\" are expected");
  return LowerSlice(call, *starts, *ends, call.Ints("axes").value_or(Sizes()), {});
});

const OnnxOps kSlice("Slice", 10,
                     [](OnnxCall& call) -> Step {
                       const auto ints = [&](size_t input, const char* what) {
                         return call.node.Has(input) ? call.node.KnownInts(input, what) : Sizes();
                       };
                       return LowerSlice(call, call.node.KnownInts(1, "starts"),
                                         call.node.KnownInts(2, "ends"), ints(3, "axes"),
                                         ints(4, "steps"));
                     },
                     {.settings = {1, 2, 3, 4}});

// --- Padding ------------------------------------------------------------------------------------

PadMode ModeOf(OnnxCall& call) {
  const std::string mode = call.OneOf("mode", "constant", {"constant", "reflect", "edge", "wrap"});
  return mode == "constant"  ? PadMode::kConstant
         : mode == "reflect" ? PadMode::kReflect
         : mode == "edge"    ? PadMode::kReplicate
                             : PadMode::kCircular;
}

// `pads` are the numbers before all axes, then those behind; Pad has pairs, the last axis first.
Step LowerPad(OnnxCall& call, const Sizes& pads, const Sizes& axes, double value) {
  const int rank = call.node.Rank(0);
  if (pads.size() != 2 * axes.size()) {
    RefuseNode("\"pads\" is expected to have ", 2 * axes.size(), " numbers, got ", pads.size());
  }
  Sizes pairs(static_cast<size_t>(2 * rank));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(2 * (rank - 1 - axes[i]));
    pairs[at] = pads[i];
    pairs[at + 1] = pads[i + axes.size()];
  }
  const PadOptions options{.mode = ModeOf(call), .value = value};
  return One([pairs, options](In in) { return Pad(in[0], pairs, options); });
}

Sizes AllAxes(int rank) {
  Sizes axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

const OnnxOps kPadAttributes("Pad", 1, [](OnnxCall& call) -> Step {
  const char* const name = call.opset() < 2 ? "paddings" : "pads";
  const auto pads = call.Ints(name);
  if (!pads) RefuseNode("attribute \"", name, "\" is missing");
  return LowerPad(call, *pads, AllAxes(call.node.Rank(0)), call.Float("value", 0));
});

const OnnxOps kPad("Pad", 11,
                   [](OnnxCall& call) -> Step {
                     const int rank = call.node.Rank(0);
                     const Sizes axes = call.node.Has(3)
                                            ? call.Axes(call.node.KnownInts(3, "axes"), rank)
                                            : AllAxes(rank);
                     const bool given =
                         call.node.Has(2) && call.node.ShapeAt(2).num_elements() != 0;
                     const double value = given ? call.node.KnownNumber(2, "constant_value") : 0;
                     return LowerPad(call, call.node.KnownInts(1, "pads"), axes, value);
                   },
                   {.settings = {1, 2, 3}});

// --- Blocks of images ---------------------------------------------------------------------------

// [n, c, h, w] seen in more dimensions, permuted, and seen in four again.
Step Rearranged(Sizes open, DimList order, Sizes closed) {
  return One([=](In in) { return Reshape(Permute(Reshape(in[0], open), order), closed); });
}

int64_t BlockOf(OnnxCall& call) {
  const int64_t block = call.Int("blocksize");
  if (call.node.Rank(0) != 4 || block < 1 || block > (1 << 15)) {
    RefuseNode("four dimensions and a blocksize from 1 on are expected, got ",
               call.node.Spec(0).ToString(), " and ", block);
  }
  return block;
}

const OnnxOps kDepthToSpace("DepthToSpace", 1, [](OnnxCall& call) -> Step {
  const int64_t b = BlockOf(call);
  const Shape x = call.node.ShapeAt(0);
  const int64_t c = x[1] / (b * b);
  if (c * b * b != x[1]) RefuseNode("blocksize ", b, " squared is expected to divide ", x[1]);
  const bool dcr = call.OneOf("mode", "DCR", {"DCR", "CRD"}) == "DCR";
  Sizes closed = {x[0], c, x[2] * b, x[3] * b};
  if (dcr) return Rearranged({x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, std::move(closed));
  return Rearranged({x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, std::move(closed));
});

const OnnxOps kSpaceToDepth("SpaceToDepth", 1, [](OnnxCall& call) -> Step {
  const int64_t b = BlockOf(call);
  const Shape x = call.node.ShapeAt(0);
  const int64_t h = x[2] / b, w = x[3] / b;
  if (h * b != x[2] || w * b != x[3]) {
    RefuseNode("blocksize ", b, " is expected to divide height and width of ", x.ToString());
  }
  const bool dcr = call.OneOf("mode", "DCR", {"DCR", "CRD"}) == "DCR";
  const DimList order = dcr ? DimList{0, 3, 5, 1, 2, 4} : DimList{0, 1, 3, 5, 2, 4};
  return Rearranged({x[0], x[1], h, b, w, b}, order, {x[0], x[1] * b * b, h, w});
});

}  // namespace
}  // namespace firn::io::internal
