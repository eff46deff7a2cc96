// channel_shuffle, pixel_shuffle, pixel_unshuffle: a view of more dimensions, permuted, and joined
// again, which copies once.
//
// roll: of roll_dim, an operation for one dimension, whose gradient rolls back.
//
// shift, rot90: made of views that are padded or turned.
//
// repeat_interleave: by one number a view that is joined again; by many numbers a choice of
// indices, which are counted on the host.
//
// sliding_window: a view with a stride for windows and one for their elements. Its gradient adds
// what overlaps, by index_add: rows of as many elements as divide both windows and steps.

#include "firn/tensor/ops/shape/rearrange.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/rearrange_body.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// Throws unless x has at least `rank` dimensions, and room for `more`.
void CheckRank(const Tensor& x, int rank, int more, const char* op) {
  CheckDefined(x, op);
  if (x.rank() >= rank && x.rank() + more <= kMaxRank) return;
  RaiseStatus(InvalidArgument("x must have ", rank, " to ", kMaxRank - more, " dimensions, got ",
                              x.shape().ToString()),
              op);
}

int DimOf(const Tensor& x, int64_t dim, const char* op) {
  const absl::StatusOr<int> at = NormalizeDim(dim, x.shape());
  RaiseIfError(at.status(), op);
  return *at;
}

// Throws unless `by` is positive and divides size `dim` of x.
void CheckDivides(const Tensor& x, int64_t dim, int64_t by, const char* name, const char* op) {
  if (by > 0 && x.size(dim) % by == 0) return;
  RaiseStatus(InvalidArgument(name, " ", by, " must be positive and divide dim ", dim, " of x ",
                              x.shape().ToString()),
              op);
}

// x's dimensions before `dim`, then these.
Shape Headed(const Shape& x, int dim, std::initializer_list<int64_t> sizes) {
  Dims d;
  for (int i = 0; i < dim; ++i) d.push_back(x[i]);
  for (int64_t s : sizes) d.push_back(s);
  return Shape(d.span());
}

// The dimensions 0 to `head` - 1, and then these, counted from there.
DimList OrderOf(int head, std::initializer_list<int> rest) {
  Dims d;
  for (int i = 0; i < head; ++i) d.push_back(i);
  for (int i : rest) d.push_back(head + i);
  return DimList(d);
}

absl::Status InferRollDim(InferContext& c) {
  const RollDimAttrs& a = c.attrs<RollDimAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(a.dim < 0 || a.dim >= x.rank(),
                 InvalidArgument("dim ", a.dim, " is outside [0, ", x.rank(), ")"));
  const int64_t n = x[static_cast<int>(a.dim)];
  FIRN_RETURN_IF(a.shift < 0 || a.shift >= n,
                 InvalidArgument("shift ", a.shift, " is outside [0, ", n, ")"));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

// x moved on by `shift` along `dim`.
Tensor RollOne(const Tensor& x, int64_t shift, int64_t dim) {
  if (x.rank() == 0 || x.size(dim) == 0) return x;
  const int64_t n = x.size(dim), by = (shift % n + n) % n;
  return by == 0 ? x : Apply1(TheOp<"roll_dim">(), {x}, RollDimAttrs{dim, by});
}

void GradRollDim(GradContext& g) {
  const RollDimAttrs& a = g.attrs<RollDimAttrs>();
  g.set_grad_input(0, RollOne(g.grad_output(), -a.shift, a.dim));
}

FIRN_REGISTER_OP(roll_dim) {
  return {
      .doc = "x moved on along a dimension, what leaves it at its end coming back at its start.",
      .inputs = {{.name = "x", .min_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RollDimAttrs>(),
      .infer = InferRollDim,
      .grad = GradRollDim,
      .kernels = cpu::Portable<RollKernel>(),
  };
}

Tensor ShiftOne(const Tensor& x, int64_t shift, int dim, PadMode border) {
  const int64_t n = x.size(dim);
  if (shift == 0 || n == 0) return x;
  if (border == PadMode::kReplicate || border == PadMode::kConstant) {
    shift = std::clamp(shift, -n, n);  // beyond it there is only more of the same
  }
  if (shift == std::numeric_limits<int64_t>::min()) ++shift;  // Pad refuses it all the same
  std::vector<int64_t> pad(static_cast<size_t>(2 * (x.rank() - dim)), 0);
  pad[pad.size() - 2] = std::max<int64_t>(shift, 0);
  pad[pad.size() - 1] = std::max<int64_t>(-shift, 0);
  const Tensor padded = Pad(x, pad, {.mode = border});
  return Slice(padded, dim, shift > 0 ? 0 : -shift, shift > 0 ? n : n - shift);
}

// The index of each element of the result: j, repeats[j] times.
Tensor RepeatedIndices(const Tensor& repeats, int64_t n) {
  std::vector<int64_t> counts = repeats.ToVector<int64_t>();
  if (counts.size() == 1) counts.resize(static_cast<size_t>(n), counts[0]);
  int64_t total = 0;
  for (int64_t c : counts) {
    if (c < 0 || __builtin_add_overflow(total, c, &total)) {
      RaiseStatus(InvalidArgument("repeats must be at least 0 and few enough, got ", c),
                  "repeat_interleave");
    }
  }
  const absl::StatusOr<Shape> shape = Shape::Make(absl::MakeConstSpan(&total, 1));
  RaiseIfError(shape.status(), "repeat_interleave");
  Tensor indices = Empty(*shape, DType::kI64);
  const absl::Span<int64_t> to = indices.mutable_host_view<int64_t>();
  size_t at = 0;
  for (size_t j = 0; j < counts.size(); ++j) {
    for (int64_t c = 0; c < counts[j]; ++c) to[at++] = static_cast<int64_t>(j);
  }
  return ToDevice(indices, repeats.device());
}

Tensor RepeatByNumber(const Tensor& x, int64_t repeats, int dim) {
  Dims sizes = x.shape().dims();
  if (repeats < 0 || __builtin_mul_overflow(sizes[dim], repeats, &sizes[dim])) {
    RaiseStatus(InvalidArgument("repeats must be at least 0 and few enough, got ", repeats),
                "repeat_interleave");
  }
  const Shape shape(sizes.span());
  CheckRank(x, 1, 1, "repeat_interleave");
  const Tensor column = Unsqueeze(x, dim + 1);
  Dims wide = column.shape().dims();
  wide[dim + 1] = repeats;
  return Reshape(Expand(column, wide.span()), shape);
}

absl::Status InferSlidingWindow(InferContext& c) {
  const SlidingWindowAttrs& a = c.attrs<SlidingWindowAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(x.rank() == 0, InvalidArgument("x is 0-d: it has no windows"));
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(a.dim, x));
  FIRN_RETURN_IF(
      x.rank() == kMaxRank,
      InvalidArgument("x ", x.ToString(), " already has the most dimensions, ", kMaxRank));
  FIRN_RETURN_IF(
      a.size < 1 || a.size > x[dim],
      InvalidArgument("size ", a.size, " must be from 1 to ", x[dim], ", the size of dim ", dim));
  FIRN_RETURN_IF(a.step < 1, InvalidArgument("step must be at least 1, got ", a.step));
  Dims sizes = x.dims(), strides = ViewStrides(c.in(0));
  const int64_t stride = strides[dim];
  sizes[dim] = (x[dim] - a.size) / a.step + 1;
  if (sizes[dim] > 1) strides[dim] *= a.step;  // else it means nothing and may overflow
  sizes.push_back(a.size);
  strides.push_back(stride);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_view(shape, strides, 0);
  return absl::OkStatus();
}

void GradSlidingWindow(GradContext& g) {
  const SlidingWindowAttrs& a = g.attrs<SlidingWindowAttrs>();
  const TensorSpec& x = g.input_spec(0);
  const int dim = *NormalizeDim(a.dim, x.shape);
  g.set_grad_input(0, AddWindows(Movedim(g.grad_output(), -1, dim + 1), dim, a.step, x.shape[dim]));
}

FIRN_REGISTER_OP(sliding_window) {
  return ViewOp("A view of all windows along a dimension.", AttrsOf<SlidingWindowAttrs>(),
                InferSlidingWindow, GradSlidingWindow);
}

}  // namespace

Tensor ChannelShuffle(const Tensor& x, Integer groups) {
  CheckRank(x, 2, 1, "channel_shuffle");
  CheckDivides(x, 1, groups, "groups", "channel_shuffle");
  const Tensor grouped = Unflatten(x, 1, {groups, x.size(1) / groups});
  return Reshape(Transpose(grouped, 1, 2), x.shape());
}

Tensor PixelShuffle(const Tensor& x, Integer upscale) {
  constexpr const char* kName = "pixel_shuffle";
  CheckRank(x, 3, 2, kName);
  const int64_t r = upscale;
  int64_t square = 0;
  if (r < 1 || __builtin_mul_overflow(r, r, &square)) square = 0;
  CheckDivides(x, -3, square, "upscale squared,", kName);
  const int head = x.rank() - 3;
  const int64_t c = x.size(-3) / square, h = x.size(-2), w = x.size(-1);
  const Tensor split = Reshape(x, Headed(x.shape(), head, {c, r, r, h, w}));
  return Reshape(Permute(split, OrderOf(head, {0, 3, 1, 4, 2})),
                 Headed(x.shape(), head, {c, h * r, w * r}));
}

Tensor PixelUnshuffle(const Tensor& x, Integer downscale) {
  constexpr const char* kName = "pixel_unshuffle";
  CheckRank(x, 3, 2, kName);
  const int64_t r = downscale;
  CheckDivides(x, -2, r, "downscale", kName);
  CheckDivides(x, -1, r, "downscale", kName);
  const int head = x.rank() - 3;
  const int64_t c = x.size(-3), h = x.size(-2) / r, w = x.size(-1) / r;
  int64_t channels = 0;
  if (__builtin_mul_overflow(r, r, &channels) || __builtin_mul_overflow(c, channels, &channels)) {
    RaiseStatus(InvalidArgument("downscale ", r, " makes too many channels"), kName);
  }
  const Tensor split = Reshape(x, Headed(x.shape(), head, {c, h, r, w, r}));
  return Reshape(Permute(split, OrderOf(head, {0, 2, 4, 1, 3})),
                 Headed(x.shape(), head, {channels, h, w}));
}

Tensor Roll(const Tensor& x, const DimList& shifts, const DimList& dims) {
  constexpr const char* kName = "roll";
  CheckDefined(x, kName);
  if (dims.empty() && shifts.size() == 1) {
    return Reshape(RollOne(Flatten(x), shifts.begin()[0], 0), x.shape());
  }
  if (shifts.size() != dims.size()) {
    RaiseStatus(InvalidArgument("shifts and dims must be as many, got ", shifts.size(), " and ",
                                dims.size()),
                kName);
  }
  Tensor y = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    y = RollOne(y, shifts.begin()[i], DimOf(x, dims.begin()[i], kName));
  }
  return y;
}

Tensor Shift(const Tensor& x, const DimList& shifts, PadMode border) {
  constexpr const char* kName = "shift";
  CheckDefined(x, kName);
  if (static_cast<int>(shifts.size()) > x.rank()) {
    RaiseStatus(InvalidArgument("got ", shifts.size(), " shifts for x ", x.shape().ToString()),
                kName);
  }
  Tensor y = x;
  const int first = x.rank() - static_cast<int>(shifts.size());
  for (int d = first; d < x.rank(); ++d) y = ShiftOne(y, shifts.begin()[d - first], d, border);
  return y;
}

Tensor Rot90(const Tensor& x, Integer k, const DimList& dims) {
  constexpr const char* kName = "rot90";
  CheckRank(x, 2, 0, kName);
  const absl::StatusOr<Dims> at = NormalizeDims(dims, x.shape());
  RaiseIfError(at.status(), kName);
  if (dims.size() != 2 || at->rank != 2) {
    RaiseStatus(InvalidArgument("dims must be two dimensions of x, got ", dims.size()), kName);
  }
  const int64_t turns = (k % 4 + 4) % 4;
  const int64_t from = DimOf(x, dims.begin()[0], kName), to = DimOf(x, dims.begin()[1], kName);
  if (turns == 0) return x;
  if (turns == 2) return Flip(x, {from, to});
  return turns == 1 ? Flip(Transpose(x, from, to), from) : Transpose(Flip(x, from), from, to);
}

Tensor RepeatInterleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> dim) {
  constexpr const char* kName = "repeat_interleave";
  CheckDefined(x, kName);
  CheckDefined(repeats, kName, "repeats");
  const Tensor given = !dim || x.rank() == 0 ? Flatten(x) : x;
  const int at = DimOf(given, dim.value_or(0), kName);
  if (!IsIntegral(repeats.dtype()) || repeats.rank() > 1) {
    RaiseStatus(InvalidArgument("repeats must be a whole number or integers [n], got ",
                                repeats.spec().ToString()),
                kName);
  }
  if (repeats.impl()->weak_number) {
    return RepeatByNumber(given, *reinterpret_cast<const int64_t*>(repeats.impl()->data), at);
  }
  const int64_t n = given.size(at), count = repeats.num_elements();
  if (count != n && count != 1) {
    RaiseStatus(InvalidArgument("repeats ", repeats.shape().ToString(), " must have 1 or ", n,
                                " elements for dim ", at, " of x ", given.shape().ToString()),
                kName);
  }
  return IndexSelect(given, at, RepeatedIndices(repeats, n));
}

std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors, MeshIndexing indexing) {
  constexpr const char* kName = "meshgrid";
  const auto n = static_cast<int>(tensors.size());
  if (n == 0 || n > kMaxRank) {
    RaiseStatus(InvalidArgument("takes 1 to ", kMaxRank, " tensors, got ", n), kName);
  }
  CheckAllDefined(tensors, kName);
  const auto place = [&](int i) {
    return indexing == MeshIndexing::kXy && n > 1 && i < 2 ? 1 - i : i;
  };
  Dims grid(n, 1);
  for (int i = 0; i < n; ++i) {
    const Tensor& t = tensors[static_cast<size_t>(i)];
    if (t.rank() > 1) {
      RaiseStatus(InvalidArgument("tensors must be 1-D, got ", t.shape().ToString()), kName);
    }
    grid[place(i)] = t.num_elements();
  }
  std::vector<Tensor> views;
  for (int i = 0; i < n; ++i) {
    const Tensor& t = tensors[static_cast<size_t>(i)];
    Dims own(n, 1);
    own[place(i)] = t.num_elements();
    views.push_back(Expand(Reshape(t, own.span()), grid.span()));
  }
  return views;
}

Tensor inner::AddWindows(const Tensor& y, int dim, int64_t step, int64_t length) {
  const int64_t count = y.size(dim), size = y.size(dim + 1);
  if (count == 1) step = size;  // it means nothing, and may be large
  const int64_t covered = size + (count - 1) * step;
  // A row has a dimension of its own where there is room for one.
  const int64_t row = y.rank() < kMaxRank ? std::gcd(size, step) : 1;
  const ArangeOptions options{.device = y.device()};
  const Tensor starts = Mul(Arange(int64_t{0}, count, int64_t{1}, options), step / row);
  const Tensor places =
      Add(Unsqueeze(starts, 1), Arange(int64_t{0}, size / row, int64_t{1}, options));
  const Tensor rows = row == 1 ? y : Unflatten(y, dim + 1, {size / row, row});
  Dims sizes;
  for (int d = 0; d < rows.rank(); ++d) {
    if (d != dim) sizes.push_back(d == dim + 1 ? covered / row : rows.size(d));
  }
  const Tensor zeros = ExpandedZeros(Shape::Trusted(sizes), y.dtype(), y.device());
  const Tensor sums = IndexAdd(zeros, dim, places, rows);
  const Tensor line = row == 1 ? sums : Flatten(sums, dim, dim + 1);
  if (covered == length) return line;
  std::vector<int64_t> pad(static_cast<size_t>(2 * (line.rank() - dim)), 0);  // last dim first
  pad.back() = length - covered;
  return Pad(line, pad);
}

Tensor SlidingWindow(const Tensor& x, Integer dim, Integer size, Integer step) {
  return Apply1(TheOp<"sliding_window">(), {x}, SlidingWindowAttrs{dim, size, step});
}

}  // namespace firn
