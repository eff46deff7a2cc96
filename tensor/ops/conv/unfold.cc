// unfold and fold, of one to three dimensions. Both are linear, and each is the other's gradient.
//
// fold adds up some rows of an image at a time, which stay in cache, tap by tap, so that the
// columns are read in the order of memory.

#include "firn/tensor/ops/conv/unfold.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/device/macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/conv/unfold_body.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/images.h"

namespace firn {
namespace {

Tensor Call(const OpDef& op, const Tensor& x, const UnfoldAttrs& a) { return Apply1(op, {x}, a); }

// The channels and taps of a column, or an error if there are too many.
absl::StatusOr<int64_t> RowsOf(int64_t channels, const Sizes& kernel) {
  FIRN_ASSIGN_OR_RETURN(const Shape rows, ShapeOfImages(1, channels, kernel));
  return rows.num_elements();
}

// --- unfold --------------------------------------------------------------------------------------

absl::Status InferUnfold(InferContext& c) {
  const Shape& x = c.shape(0);
  const UnfoldAttrs& a = c.attrs<UnfoldAttrs>();
  const Sizes image = ImageOf(x);
  FIRN_ASSIGN_OR_RETURN(const Sizes windows, UnfoldedWindows(image, a));
  FIRN_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(x[1], a.kernel.Over(image.count())));
  FIRN_ASSIGN_OR_RETURN(const Shape all, ShapeOfImages(1, 1, windows));
  FIRN_ASSIGN_OR_RETURN(const Shape y, Shape::Make({x[0], rows, all.num_elements()}));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

void GradUnfold(GradContext& g) {
  UnfoldAttrs a = g.attrs<UnfoldAttrs>();
  a.output_size = ImageOf(g.input_shape(0));
  g.set_grad_input(0, Call(TheOp<"fold">(), g.grad_output(), a));
}

FIRN_REGISTER_OP(unfold) {
  return {
      .doc = "The windows of a convolution as columns.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 3, .max_rank = 5}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<UnfoldAttrs>(),
      .infer = InferUnfold,
      .grad = GradUnfold,
      .kernels = cpu::Portable<UnfoldKernel>(),
  };
}

// --- fold ----------------------------------------------------------------------------------------

absl::Status InferFold(InferContext& c) {
  const Shape& x = c.shape(0);
  const UnfoldAttrs& a = c.attrs<UnfoldAttrs>();
  const int dims = a.output_size.count();
  FIRN_RETURN_IF(dims == 0, InvalidArgument("output_size has no numbers"));
  FIRN_ASSIGN_OR_RETURN(const Sizes windows, UnfoldedWindows(a.output_size, a));
  FIRN_ASSIGN_OR_RETURN(const int64_t taps, RowsOf(1, a.kernel.Over(dims)));
  FIRN_RETURN_IF(x[1] % taps != 0, InvalidArgument("x ", x.ToString(), " has ", x[1],
                                                   " rows, which is no multiple of the ", taps,
                                                   " taps of kernel ", a.kernel.ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape all, ShapeOfImages(1, 1, windows));
  FIRN_RETURN_IF(all.num_elements() != x[2],
                 InvalidArgument("x ", x.ToString(), " has ", x[2], " windows, an image of ",
                                 a.output_size.ToString(), " has ", windows.ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(x[0], x[1] / taps, a.output_size));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

void GradFold(GradContext& g) {
  UnfoldAttrs a = g.attrs<UnfoldAttrs>();
  a.output_size = 0;
  g.set_grad_input(0, Call(TheOp<"unfold">(), g.grad_output(), a));
}

// Computes band i of all the images' rows, which are cut into as many bands as kSums needs. Every
// element's sum is in the order of the taps; half types are added up in f32.
template <class T>
struct FoldBands {
  static constexpr int64_t kSums = 2048;
  using Acc = AccumulatorOf<T>;

  FoldBands(const UnfoldAxes& axes, const T* from, T* to)
      : s(axes),
        x(from),
        y(to),
        columns(std::min(s.w.in, kSums)),
        rows(std::clamp<int64_t>(kSums / columns, 1, s.h.in)),
        bands((s.h.in - 1) / rows + 1) {}

  void operator()(int64_t i) const {
    const int64_t first = TakeDigit(i, bands) * rows, last = std::min(s.h.in, first + rows);
    const int64_t d = TakeDigit(i, s.d.in);
    T* const to = y + ((i * s.d.in + d) * s.h.in + first) * s.w.in;
    for (int64_t left = 0; left < s.w.in; left += columns) {
      const int64_t right = std::min(s.w.in, left + columns);
      Acc sums[kSums];
      std::fill_n(sums, (last - first) * columns, Acc{0});
      AddPart(i, d, first, last, left, right, sums);
      for (int64_t h = 0; h < last - first; ++h) {
        Store(sums + h * columns, right - left, to + h * s.w.in + left);
      }
    }
  }
  int64_t cost() const { return rows * s.w.in * (s.taps() + 1); }

  UnfoldAxes s;
  const T* x;
  T* y;
  int64_t columns, rows, bands;  // of a part, of a band, of an image

 private:
  // Adds to rows [first, last) of a plane at depth d, between two columns.
  void AddPart(int64_t plane, int64_t d, int64_t first, int64_t last, int64_t left, int64_t right,
               Acc* sums) const {
    const T* tap = x + plane * s.taps() * s.windows();
    for (int64_t t = 0; t < s.d.kernel; ++t) {
      const int64_t od = s.d.Output(d, t);
      for (int64_t u = 0; u < s.h.kernel; ++u) {
        const auto [top, bottom] = s.h.OutputsOf(first, last, u);
        for (int64_t v = 0; v < s.w.kernel; ++v, tap += s.windows()) {
          const auto [low, high] = s.w.OutputsOf(left, right, v);
          if (od < 0 || low >= high) continue;
          const int64_t column = low * s.w.stride - s.w.padding + v * s.w.dilation - left;
          const int64_t n = high - low, at_once = 1 + (kSums - n) / s.w.out;
          for (int64_t oh = top; oh < bottom; oh += at_once) {
            const int64_t some = std::min(at_once, bottom - oh);
            Acc wide[kSums];
            const Acc* from =
                Wide(tap + (od * s.h.out + oh) * s.w.out + low, (some - 1) * s.w.out + n, wide);
            const int64_t row = oh * s.h.stride - s.h.padding + u * s.h.dilation - first;
            for (int64_t i = 0; i < some; ++i) {
              AddEvery(from + i * s.w.out, n, s.w.stride,
                       sums + (row + i * s.h.stride) * columns + column);
            }
          }
        }
      }
    }
  }
  // The elements in the type of the sums: in place, or in `room`.
  static const Acc* Wide(const T* from, int64_t n, Acc* room) {
    if constexpr (sizeof(T) == 2) {
      cpu::ToFloats(from, n, room);
      return room;
    } else {
      return from;
    }
  }
  // sums[i * stride] += from[i]
  static void AddEvery(const Acc* from, int64_t n, int64_t stride, Acc* sums) {
    if (stride == 1) {
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < n; ++i) sums[i] += from[i];
    } else {
      for (int64_t i = 0; i < n; ++i) sums[i * stride] += from[i];
    }
  }
  static void Store(const Acc* sums, int64_t n, T* to) {
    if constexpr (sizeof(T) == 2) {
      cpu::FromFloats(sums, n, to);
    } else {
      std::copy_n(sums, n, to);
    }
  }
};

absl::Status RunFold(KernelContext& k) {
  const Sizes image = ImageOf(k.out_spec().shape);
  const UnfoldAttrs& a = k.attrs<UnfoldAttrs>();
  FIRN_ASSIGN_OR_RETURN(const Sizes windows, UnfoldedWindows(image, a));
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const FoldBands<T> body(UnfoldAxes(image, windows, a), k.in<T>(0), k.out<T>());
    cpu::ForEach(k.out_spec().shape[0] * k.out_spec().shape[1] * body.s.d.in * body.bands, body);
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(fold) {
  return {
      .doc = "The sum of columns, each in its place in the image.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 3, .max_rank = 3}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<UnfoldAttrs>(),
      .infer = InferFold,
      .grad = GradFold,
      .kernels = {{.name = "bands", .run = RunFold}},
  };
}

// --- The functions -------------------------------------------------------------------------------

// The number of dimensions: what `dims` says, or else how many numbers the options have.
template <class Options>
int DimsOf(const Options& o, int largest, std::string_view op) {
  const int64_t dims = o.dims != 0 ? o.dims : std::max(2, largest);
  if (dims >= 1 && dims <= Sizes::kMost) return static_cast<int>(dims);
  RaiseStatus(InvalidArgument("dims ", dims, " (want 1 to ", Sizes::kMost, ", or 0)"), op);
}

template <class Options>
UnfoldAttrs AttrsFrom(const Options& o) {
  return {.kernel = o.kernel, .dilation = o.dilation, .padding = o.padding, .stride = o.stride};
}

int LargestOf(std::initializer_list<const Sizes*> options) {
  int largest = 0;
  for (const Sizes* s : options) largest = std::max(largest, s->count());
  return largest;
}

}  // namespace

absl::StatusOr<Sizes> inner::UnfoldedWindows(const Sizes& image, const UnfoldAttrs& a) {
  const int dims = image.count();
  FIRN_ASSIGN_OR_RETURN(const Sizes kernel, internal::FittedOption("kernel", a.kernel, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes stride, internal::CheckedOption("stride", a.stride, 1, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes padding,
                        internal::CheckedOption("padding", a.padding, 0, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes dilation,
                        internal::CheckedOption("dilation", a.dilation, 1, dims));
  return internal::CountWindows(image, kernel, stride, padding, dilation);
}

Tensor Unfold(const Tensor& x, const UnfoldOptions& o) {
  const OpDef& op = TheOp<"unfold">();
  const int dims = DimsOf(o, LargestOf({&o.kernel, &o.dilation, &o.padding, &o.stride}), op.name);
  if (LacksBatch(x, dims, op.name)) {
    return Squeeze(Call(op, Unsqueeze(x, 0), AttrsFrom(o)), 0);
  }
  return Call(op, x, AttrsFrom(o));
}

Tensor Fold(const Tensor& x, const FoldOptions& o) {
  const OpDef& op = TheOp<"fold">();
  const int dims = DimsOf(
      o, LargestOf({&o.output_size, &o.kernel, &o.dilation, &o.padding, &o.stride}), op.name);
  UnfoldAttrs a = AttrsFrom(o);
  const absl::StatusOr<Sizes> image =
      internal::CheckedOption("output_size", o.output_size, 1, dims);
  RaiseIfError(image.status(), op.name);
  a.output_size = *image;
  if (LacksBatch(x, 1, op.name)) return Squeeze(Call(op, Unsqueeze(x, 0), a), 0);
  return Call(op, x, a);
}

}  // namespace firn
