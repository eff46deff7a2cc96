// Functions that move elements, and matrices.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

std::vector<Tensor> All(In in) { return std::vector<Tensor>(in.begin(), in.end()); }
TensorList ListOf(const std::vector<Tensor>& tensors) {
  TensorList list;
  for (const Tensor& t : tensors) list.push_back(t);
  return list;
}
Shape ShapeOfInts(const std::vector<int64_t>& sizes) {
  return Shape(absl::Span<const int64_t>(sizes));
}

const NnablaOps kConcat("Concatenate", 1, kAnyInputs, [](const Args& a, In in) -> TensorList {
  return {Concat(All(in), AxisOf(in[0], a.Int("axis")))};
});
const NnablaOps kSplit("Split", 1, 1, [](const Args& a, In in) -> TensorList {
  return ListOf(Unbind(in[0], AxisOf(in[0], a.Int("axis"))));
});
const NnablaOps kStack("Stack", 1, kAnyInputs, [](const Args& a, In in) -> TensorList {
  return {Stack(All(in), a.Int("axis"))};
});

// The last dimensions, as many as there are numbers.
const NnablaOps kSlice("Slice", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t>&start = a.Ints("start"), &stop = a.Ints("stop"),
        &step = a.Ints("step");
  const size_t count = start.size();
  if (count != stop.size() || count != step.size() || count > static_cast<size_t>(in[0].rank())) {
    RefuseNnabla("the lengths of start, stop and step",
                 absl::StrCat("equal and at most ", in[0].rank()),
                 absl::StrCat(count, ", ", stop.size(), " and ", step.size()));
  }
  Tensor y = in[0];
  const int64_t first = y.rank() - static_cast<int64_t>(count);
  for (size_t i = 0; i < count; ++i) {
    y = Slice(y, first + static_cast<int64_t>(i), start[i], stop[i], step[i]);
  }
  return {y};
});

// Pairs for the last dimensions, the last pair for the last one.
const NnablaOps kPad("Pad", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t>& widths = a.Ints("pad_width");
  if (widths.size() % 2 != 0 || widths.size() > 2 * static_cast<size_t>(in[0].rank())) {
    RefuseNnabla("the length of pad_width", "two for each of the last dimensions",
                 absl::StrCat(widths.size()));
  }
  std::vector<int64_t> ends;
  for (size_t i = widths.size(); i >= 2; i -= 2) {
    ends.insert(ends.end(), {widths[i - 2], widths[i - 1]});
  }
  const std::string& mode = a.Text("mode");
  if (mode == "constant") return {Pad(in[0], ends, {.value = a.Number("constant_value")})};
  if (mode != "reflect" && mode != "repeat") {
    RefuseNnabla("mode", "constant, reflect or repeat", mode);
  }
  return {Pad(in[0], ends, {.mode = mode == "reflect" ? PadMode::kReflect : PadMode::kReplicate})};
});

const NnablaOps kTranspose("Transpose", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Permute(in[0], a.Ints("axes"))};
});
const NnablaOps kBroadcast("Broadcast", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Expand(in[0], ShapeOfInts(a.Ints("shape")))};
});
// y's dimensions stand at those of x from `axis` on; without an axis at the last ones.
const NnablaOps kBroadcastTo("BroadcastTo", 2, 2, [](const Args& a, In in) -> TensorList {
  const int64_t rank = in[0].rank(), axis = a.Int("axis") < 0 ? rank - in[1].rank() : a.Int("axis");
  if (axis < 0 || axis + in[1].rank() > rank) {
    RefuseNnabla("axis", absl::StrCat("such that ", in[1].rank(), " dimensions fit ", rank),
                 absl::StrCat(a.Int("axis")));
  }
  std::vector<int64_t> sizes(static_cast<size_t>(axis), 1);
  sizes = Joined(sizes, SizesOf(in[1], 0, in[1].rank()));
  sizes.resize(static_cast<size_t>(rank), 1);
  return {Expand(Reshaped(in[1], sizes), in[0].shape())};
});
const NnablaOps kTile("Tile", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Tile(in[0], a.Ints("reps"))};
});
// Places are numbers for each dimension of `shape` along the last dimension of x.
const NnablaOps kOneHot("OneHot", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t>& shape = a.Ints("shape");
  const Tensor x = IntegersOf(in[0]);
  if (shape.empty() || x.rank() < 1 || x.size(-1) != static_cast<int64_t>(shape.size())) {
    RefuseNnabla("the last size of x", absl::StrCat(shape.size(), ", the length of shape"),
                 x.shape().ToString());
  }
  Tensor place = Select(x, -1, 0);
  int64_t count = shape[0];
  for (size_t i = 1; i < shape.size(); ++i) {
    place = Add(Mul(place, FullLike(place, shape[i])), Select(x, -1, static_cast<int64_t>(i)));
    count *= shape[i];
  }
  return {Reshaped(OneHot(place, count, DType::kF32), Joined(SizesOf(x, 0, x.rank() - 1), shape))};
});
const NnablaOps kFlip("Flip", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Flip(in[0], AxesOf(in[0], a.Ints("axes")))};
});
const NnablaOps kShift("Shift", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::string& mode = a.Text("border_mode");
  if (mode != "nearest" && mode != "reflect") {
    RefuseNnabla("border_mode", "nearest or reflect", mode);
  }
  return {Shift(in[0], a.Ints("shifts"),
                mode == "nearest" ? PadMode::kReplicate : PadMode::kSymmetric)};
});
const NnablaOps kSort("Sort", 1, 1, [](const Args& a, In in) -> TensorList {
  const auto [values, indices] =
      Sort(in[0], AxisOf(in[0], a.Int("axis")), {.descending = a.Flag("reverse")});
  if (a.Flag("only_index")) return {NumbersOf(indices)};
  return {values, NumbersOf(indices)};
});
const NnablaOps kReshape("Reshape", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Reshaped(in[0], a.Ints("shape"))};
});
// An `end` of 0 means up to the last dimension.
const NnablaOps kShapeOf("Shape", 1, 1, [](const Args& a, In in) -> TensorList {
  const int64_t end = a.Int("end");
  return {NumbersOf(ShapeOf(in[0], a.Int("start"), end == 0 ? in[0].rank() : end))};
});
const NnablaOps kDiag("MatrixDiag", 1, 1,
                      [](const Args&, In in) -> TensorList { return {DiagEmbed(in[0])}; });
const NnablaOps kDiagPart("MatrixDiagPart", 1, 1, [](const Args&, In in) -> TensorList {
  return {Diagonal(in[0], 0, -2, -1)};
});
const NnablaOps kTrilu("Trilu", 1, 1, [](const Args& a, In in) -> TensorList {
  return {a.Flag("upper") ? Triu(in[0], a.Int("k")) : Tril(in[0], a.Int("k"))};
});
const NnablaOps kMeshgrid("Meshgrid", 1, kAnyInputs, [](const Args& a, In in) -> TensorList {
  return ListOf(Meshgrid(All(in), a.Flag("ij_indexing") ? MeshIndexing::kIj : MeshIndexing::kXy));
});
const NnablaOps kEyeLike("EyeLike", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Eye(in[0].size(0), in[0].size(1), a.Int("k"))};
});

const NnablaOps kDet("BatchDet", 1, 1,
                     [](const Args&, In in) -> TensorList { return {Det(in[0])}; });
const NnablaOps kInv("BatchInv", 1, 1,
                     [](const Args&, In in) -> TensorList { return {Inv(in[0])}; });
const NnablaOps kLogdet("BatchLogdet", 1, 1, [](const Args&, In in) -> TensorList {
  return {Slogdet(in[0]).logabsdet};
});
const NnablaOps kCholesky("BatchCholesky", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Cholesky(in[0], a.Flag("upper"))};
});

// --- Places -------------------------------------------------------------------------------------

const NnablaOps kGather("Gather", 2, 2, [](const Args& a, In in) -> TensorList {
  const int64_t axis = AxisOf(in[0], a.Int("axis"));
  return {IndexSelect(in[0], axis, IntegersOf(in[1]), a.Int("batch_dims"))};
});
// The places of an element stand along the first dimension, in Firn along the last.
Tensor Places(const Tensor& x) { return Movedim(IntegersOf(x), 0, -1); }
const NnablaOps kGatherNd("GatherNd", 2, 2, [](const Args&, In in) -> TensorList {
  return {GatherNd(in[0], Places(in[1]))};
});
const NnablaOps kScatterNd("ScatterNd", 2, 3, [](const Args& a, In in) -> TensorList {
  const Tensor to = in.size() > 2 ? in[2] : Zeros(ShapeOfInts(a.Ints("shape")));
  if (a.Flag("add")) return {ScatterNd(to, Places(in[1]), in[0], ScatterReduction::kSum)};
  return {ScatterNd(to, Places(in[1]), in[0])};
});
const NnablaOps kScatterAdd("ScatterAdd", 3, 3, [](const Args& a, In in) -> TensorList {
  return {ScatterAdd(in[0], AxisOf(in[0], a.Int("axis")), IntegersOf(in[1]), in[2])};
});
const NnablaOps kBoolFill("BoolFill", 2, 2, [](const Args& a, In in) -> TensorList {
  return {MaskedFill(in[0], Ne(in[1], ZerosLike(in[1])), Tensor(a.Number("value")))};
});
// The mask marks rows, whose sizes are the input's behind the first.
const NnablaOps kBoolScatter("BoolScatter", 2, 3, [](const Args&, In in) -> TensorList {
  const std::vector<int64_t> row = SizesOf(in[0], 1, in[0].rank());
  const std::vector<int64_t> sizes = Joined(SizesOf(in[1], 0, in[1].rank()), row);
  const Tensor marks = Ne(in[1], ZerosLike(in[1]));
  const std::vector<int64_t> ones =
      Joined(SizesOf(in[1], 0, in[1].rank()), std::vector<int64_t>(row.size(), 1));
  const Tensor mask = Expand(Reshaped(marks, ones), absl::Span<const int64_t>(sizes));
  const Tensor to =
      in.size() > 2 ? in[2]
                    : Zeros(Shape(absl::Span<const int64_t>(sizes)), in[0].dtype(), in[0].device());
  return {MaskedScatter(to, mask, in[0])};
});
const NnablaOps kSearch("SearchSorted", 2, 2, [](const Args& a, In in) -> TensorList {
  return {NumbersOf(Searchsorted(in[0], in[1], a.Flag("right")))};
});

}  // namespace
}  // namespace firn::io::internal
