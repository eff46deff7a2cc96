// unfold and fold, of one to three dimensions. Both are linear, and each is the other's gradient.
//
// fold adds up a strip of a row of the image at a time, tap by tap: the windows that a tap gives to
// the strip lie side by side.

#include "tensor/ops/conv/unfold.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/convert.h"
#include "tensor/kernels/cpu/for_each.h"
#include "tensor/kernels/cpu/half.h"
#include "tensor/op.h"
#include "tensor/ops/conv/images.h"
#include "tensor/ops/conv/unfold_body.h"
#include "tensor/ops/shape/views.h"

namespace firn {
namespace {

Tensor Call(const OpDef& op, const Tensor& x, const UnfoldAttrs& a) { return Apply1(op, {x}, a); }

// The channels and taps that a column has one below the other, or an error for more than fit.
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

// The sums of elements [first, last) of a row of the image, in order of the taps. A half type is
// added up in f32.
template <class T>
struct FoldRows {
  static constexpr int64_t kStrip = 256;
  using Acc = AccumulatorOf<T>;

  UnfoldAxes s;
  const T* x;
  T* y;

  void operator()(int64_t begin, int64_t end) const {
    ForEachRowOf(begin, end, s.w.in, [&](int64_t row, int64_t first, int64_t last) {
      for (int64_t at = first; at < last; at += kStrip) {
        const int64_t n = std::min(kStrip, last - at);
        Acc sums[kStrip];
        std::fill_n(sums, n, Acc{0});
        AddStrip(row, at, at + n, sums);
        T* const to = y + row * s.w.in + at;
        if constexpr (sizeof(T) == 2) {
          cpu::FromFloats(sums, n, to);
        } else {
          std::copy_n(sums, n, to);
        }
      }
    });
  }
  int64_t cost() const { return s.taps() + 1; }

 private:
  void AddStrip(int64_t row, int64_t first, int64_t last, Acc* sums) const {
    int64_t plane = row;
    const int64_t ih = TakeDigit(plane, s.h.in), id = TakeDigit(plane, s.d.in);
    const T* const planes = x + plane * s.taps() * s.windows();
    for (int64_t t = 0; t < s.d.kernel; ++t) {
      const int64_t od = s.d.Output(id, t);
      for (int64_t u = 0; od >= 0 && u < s.h.kernel; ++u) {
        const int64_t oh = s.h.Output(ih, u);
        for (int64_t v = 0; oh >= 0 && v < s.w.kernel; ++v) {
          const auto [low, high] = s.w.OutputsOf(first, last, v);
          const int64_t tap = (t * s.h.kernel + u) * s.w.kernel + v;
          const T* const windows = planes + tap * s.windows() + (od * s.h.out + oh) * s.w.out;
          const int64_t to = low * s.w.stride - s.w.padding + v * s.w.dilation - first;
          if (low < high) AddEvery(windows + low, high - low, sums + to);
        }
      }
    }
  }
  // sums[i * stride] += from[i]
  void AddEvery(const T* from, int64_t n, Acc* sums) const {
    if constexpr (sizeof(T) == 2) {
      Acc wide[kStrip];
      cpu::ToFloats(from, n, wide);
      AddEvery<Acc>(wide, n, s.w.stride, sums);
    } else {
      AddEvery<Acc>(from, n, s.w.stride, sums);
    }
  }
  template <class Of>
  static void AddEvery(const Of* from, int64_t n, int64_t stride, Of* sums) {
    if (stride == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) sums[i] += from[i];
    } else {
      for (int64_t i = 0; i < n; ++i) sums[i * stride] += from[i];
    }
  }
};

absl::Status RunFold(KernelContext& k) {
  const Sizes image = ImageOf(k.out_spec().shape);
  const UnfoldAttrs& a = k.attrs<UnfoldAttrs>();
  FIRN_ASSIGN_OR_RETURN(const Sizes windows, UnfoldedWindows(image, a));
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const FoldRows<T> rows{UnfoldAxes(image, windows, a), k.in<T>(0), k.out<T>()};
    cpu::ForEach(k.out_spec().num_elements(), rows);
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
      .kernels = {{.name = "rows", .run = RunFold}},
  };
}

// --- The functions -------------------------------------------------------------------------------

// As many dimensions as `dims` says, or one of the options.
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
