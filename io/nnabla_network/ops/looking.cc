// Functions whose results have sizes that elements decide. Places are found on the host when the
// network is bound to such elements. Then values with gradients are picked by these places, which
// are constants of the program.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "firn/autograd/network/node_call.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;
using autograd::BoundValue;
using autograd::NodeCall;
using autograd::Step;

BoundValue Numbers(const Tensor& x) { return NodeCall::Constant(Contiguous(NumbersOf(x))); }

Tensor PlacesOf(const std::vector<int64_t>& places) {
  return FromVector(places, {static_cast<int64_t>(places.size())});
}

// Rows of input 0 seen as [rows, ...], by `take`, which has these places as its second argument.
BoundValue Taken(NodeCall& call, const Tensor& places, const Step& take) {
  return call.Run(take, {call.Input(0), NodeCall::Constant(places)})[0];
}

const NnablaOps kBoolGather("BoolGather", 2, 2, [](const Args&, NodeCall& call) {
  const Tensor mask = call.Known(1, "mask");
  const int rank = mask.rank(), of = call.Rank(0);
  const Shape& x = call.ShapeAt(0);
  if (rank > of || mask.shape() != Shape(x.span().subspan(0, static_cast<size_t>(rank)))) {
    RefuseNnabla("the mask", "of the first sizes of the input, " + x.ToString(),
                 mask.shape().ToString());
  }
  const Tensor places = Flatten(Nonzero(Flatten(mask)));
  // Dimensions behind those of the mask are one in the result.
  call.Return({Taken(call, places, [rank, of](In in) -> TensorList {
    const Tensor rows = RowsOf(in[0], rank);
    const Tensor y = IndexSelect(rows, 0, in[1]);
    return {rank == of ? Flatten(y) : y};
  })});
});

const NnablaOps kNonZero("NonZero", 1, 1, [](const Args&, NodeCall& call) {
  call.Return({Numbers(Transpose(Nonzero(call.Known(0, "x")), 0, 1))});
});

const NnablaOps kUnique("Unique", 1, 1, [](const Args& a, NodeCall& call) {
  const Tensor x = call.Known(0, "x");
  UniqueOptions options = {.sorted = a.Flag("sorted")};
  const bool flat = a.Flag("flatten");
  const int64_t axis = flat ? 0 : AxisOf(x, a.Int("axis"));
  if (!flat) options.dim = axis;
  const UniqueResult unique = Unique(x, options);
  std::vector<BoundValue> results = {
      Taken(call, unique.first_index, [flat, axis](In in) -> TensorList {
        return {IndexSelect(flat ? Flatten(in[0]) : in[0], axis, in[1])};
      })};
  if (a.Flag("with_index")) results.push_back(Numbers(unique.first_index));
  if (a.Flag("with_inverse")) results.push_back(Numbers(Flatten(unique.inverse)));
  if (a.Flag("with_counts")) results.push_back(Numbers(unique.counts));
  call.Return(std::move(results));
});

// NNabla keeps boxes whose score is the threshold, Firn those above it.
const NnablaOps kNonMax("ONNXNonMaxSuppression", 2, 2, [](const Args& a, NodeCall& call) {
  const auto threshold = static_cast<float>(a.Number("score_threshold"));
  const Tensor kept = NonMaxSuppression(
      call.Known(0, "boxes"), call.Known(1, "scores"),
      {.max_per_class = a.Int("max_output_boxes_per_class"),
       .iou_threshold = a.Number("iou_threshold"),
       .score_threshold = std::nextafterf(threshold, -std::numeric_limits<float>::infinity()),
       .center_box = a.Int("center_point_box") != 0});
  call.Return({Numbers(kept)});
});

constexpr int64_t kMostPlaces = int64_t{1} << 28;  // that a file may ask for

// Falling, from 0 to `most`; zeros at the end are left out.
std::vector<int64_t> FallingOf(const NodeCall& call, std::string_view what, int64_t most) {
  const Tensor numbers = IntegersOf(call.Known(1, what));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < numbers.num_elements(); ++i) {
    const auto number = Select(Flatten(numbers), 0, i).Item<int64_t>();
    if (number < 0 || number > (i == 0 ? most : found.back())) {
      RefuseNnabla(what, absl::StrCat("falling numbers from ", most, " to 0"),
                   absl::StrCat(number, " at place ", i));
    }
    found.push_back(number);
  }
  return found;
}

// How many of `numbers`, which fall, are above i, for the i from 0 to count - 1: batch sizes of
// lengths, and lengths of batch sizes.
std::vector<int64_t> CountsAbove(const std::vector<int64_t>& numbers, int64_t count) {
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < count; ++i) {
    counts.push_back(
        std::count_if(numbers.begin(), numbers.end(), [i](int64_t number) { return number > i; }));
  }
  return counts;
}

const NnablaOps kPack("PackPaddedSequence", 2, 2, [](const Args& a, NodeCall& call) {
  if (call.Rank(0) < 2) RefuseNnabla("the rank", "at least 2", absl::StrCat(call.Rank(0)));
  const bool batch_first = a.Flag("batch_first");
  const int64_t steps = call.ShapeAt(0)[batch_first ? 1 : 0];
  const int64_t batch = call.ShapeAt(0)[batch_first ? 0 : 1];
  const std::vector<int64_t> lengths = FallingOf(call, "lengths", steps);
  if (static_cast<int64_t>(lengths.size()) != batch) {
    RefuseNnabla("the number of lengths", absl::StrCat(batch), absl::StrCat(lengths.size()));
  }
  if (steps > kMostPlaces) {
    RefuseNnabla("the number of steps", absl::StrCat("at most ", kMostPlaces), absl::StrCat(steps));
  }
  const std::vector<int64_t> sizes = CountsAbove(lengths, steps);
  std::vector<int64_t> places;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t b = 0; b < sizes[static_cast<size_t>(t)]; ++b) {
      places.push_back(batch_first ? b * steps + t : t * batch + b);
    }
  }
  call.Return(
      {Taken(call, PlacesOf(places),
             [](In in) -> TensorList { return {IndexSelect(Flatten(in[0], 0, 1), 0, in[1])}; }),
       Numbers(PlacesOf(sizes))});
});

// Padding takes the row behind the last one. NNabla pads with zeros, whatever its padding_value
// says.
const NnablaOps kPadPacked("PadPackedSequence", 2, 2, [](const Args& a, NodeCall& call) {
  if (call.Rank(0) < 1) RefuseNnabla("the rank", "at least 1", "0");
  const int64_t rows = call.ShapeAt(0)[0];
  const std::vector<int64_t> sizes = FallingOf(call, "batch_sizes", rows);
  const int64_t batch = sizes.empty() ? 0 : sizes[0];
  const int64_t steps = std::max(static_cast<int64_t>(sizes.size()), a.Int("total_length"));
  std::vector<int64_t> first;  // rows of each step
  int64_t next = 0;
  for (const int64_t size : sizes) {
    first.push_back(next);
    next += size;
  }
  if (next != rows) {
    RefuseNnabla("the sum of batch_sizes", absl::StrCat(rows), absl::StrCat(next));
  }
  if (batch > 0 && steps > kMostPlaces / batch) {
    RefuseNnabla("the padded length", absl::StrCat("at most ", kMostPlaces / batch),
                 absl::StrCat(steps));
  }
  const bool batch_first = a.Flag("batch_first");
  std::vector<int64_t> places(static_cast<size_t>(batch * steps), rows);
  for (size_t t = 0; t < sizes.size(); ++t) {
    const auto step = static_cast<int64_t>(t);
    for (int64_t b = 0; b < sizes[t]; ++b) {
      places[static_cast<size_t>(batch_first ? b * steps + step : step * batch + b)] = first[t] + b;
    }
  }
  const std::vector<int64_t> front =
      batch_first ? std::vector{batch, steps} : std::vector{steps, batch};
  call.Return({Taken(call, PlacesOf(places),
                     [front](In in) -> TensorList {
                       const Tensor& x = in[0];
                       const std::vector<int64_t> inner = SizesOf(x, 1, x.rank());
                       const std::vector<int64_t> row = Joined({1}, inner);
                       const Tensor padding =
                           Zeros(Shape(absl::Span<const int64_t>(row)), x.dtype(), x.device());
                       const Tensor y = IndexSelect(Concat({x, padding}), 0, in[1]);
                       return {Reshaped(y, Joined(front, inner))};
                     }),
               Numbers(PlacesOf(CountsAbove(sizes, batch)))});
});

}  // namespace
}  // namespace firn::io::internal
