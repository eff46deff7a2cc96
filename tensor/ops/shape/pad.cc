// pad and its adjoint; the gradient of constant padding is the opposite padding.

#include "firn/tensor/ops/shape/pad.h"

#include <algorithm>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/pad_body.h"
#include "firn/tensor/ops/shape/padding.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status InferPad(InferContext& c) {
  const PadAttrs& a = c.attrs<PadAttrs>();
  if (a.mode == PadMode::kConstant) FIRN_RETURN_IF_ERROR(CheckHolds(a.value, c.dtype(0)));
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolvePadding(c.shape(0), a));
  Dims sizes;
  for (const PadDim& d : dims) sizes.push_back(d.padded());
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

void GradPad(GradContext& g) {
  const PadAttrs& a = g.attrs<PadAttrs>();
  if (a.mode != PadMode::kConstant) {
    g.set_grad_input(0, PadGrad(g.grad_output(), a));
    return;
  }
  std::vector<int64_t> opposite = a.pad;
  for (int64_t& p : opposite) p = -p;
  g.set_grad_input(0, Pad(g.grad_output(), opposite));
}

FIRN_REGISTER_OP(pad) {
  return {
      .doc = "x with elements added (or cut off) around it.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = InferPad,
      .grad = GradPad,
      .kernels = cpu::Portable<PadKernel>(),
  };
}

absl::Status InferPadGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolveUnpadding(c.shape(0), c.attrs<PadAttrs>()));
  Dims sizes;
  for (const PadDim& d : dims) sizes.push_back(d.size);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

void GradPadGrad(GradContext& g) {
  const PadAttrs& a = g.attrs<PadAttrs>();
  g.set_grad_input(0, Pad(g.grad_output(), a.pad, {.mode = a.mode}));
}

// A range of elements of dx, added up by rows, of half types in floats.
template <class T>
struct UnpadRows : UnpadBody<T> {
  using Acc = ComputeOf<T>;
  using UnpadBody<T>::rows;
  static constexpr int64_t kStrip = 1024;

  void operator()(int64_t begin, int64_t end) const {
    ForEachRowOf(begin, end, rows.row.size, [&](int64_t r, int64_t first, int64_t last) {
      const auto row = this->RowOf(r);
      cpu::Piece<T, kStrip> sums;
      for (int64_t at = first; at < last; at += kStrip) {
        const int64_t n = std::min(kStrip, last - at);
        T* const part = this->dx + r * rows.row.size + at;
        Acc* const to = sums.Room(part);
        std::fill_n(to, n, Acc{0});
        for (int64_t c = 0; c < row.count; ++c) {
          AddCopy(this->dy + this->CopyOf(row, c), at, at + n, to);
        }
        sums.Write(part, n);
      }
    });
  }

 private:
  // Adds the elements of one copy of a row to its elements [first, last), at most a strip.
  void AddCopy(const T* copy, int64_t first, int64_t last, Acc* to) const {
    const PadDim& d = rows.row;
    const auto fold = [&](int64_t from, int64_t until) {  // a border
      constexpr int64_t kFew = 16;                        // not worth a search
      PadDim::Range some = {from, until};
      if (until - from > kFew) some = d.CopiesIn(from, until, first, last);
      for (int64_t at = some.begin; at < some.end; ++at) {
        const int64_t i = d.Source(at);
        if (i >= first && i < last) to[i - first] += static_cast<Acc>(copy[at]);
      }
    };
    const int64_t begin = std::clamp<int64_t>(d.left, 0, d.padded());
    const int64_t end = std::clamp<int64_t>(d.left + d.size, begin, d.padded());
    fold(0, begin);
    const int64_t from = std::max(first, begin - d.left), until = std::min(last, end - d.left);
    if (from < until) {
      cpu::Piece<T, kStrip> piece;
      const Acc* const own = piece.Read(copy + d.left + from, until - from);
      for (int64_t i = 0; i < until - from; ++i) to[from - first + i] += own[i];
    }
    fold(end, d.padded());
  }
};

FIRN_REGISTER_OP(pad_grad) {
  return {
      .doc = "The adjoint of pad.",
      .inputs = {{.name = "dy", .dtypes = kFloating}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = InferPadGrad,
      .grad = GradPadGrad,
      .kernels = cpu::Portable<PadGradKernelOf<UnpadRows>>(),
  };
}

}  // namespace

Tensor Pad(const Tensor& x, const std::vector<int64_t>& pad, const PadOptions& options) {
  return Apply1(TheOp<"pad">(), {x}, PadAttrs{pad, options.mode, options.value});
}

Tensor inner::PadGrad(const Tensor& dy, const PadAttrs& attrs) {
  return Apply1(TheOp<"pad_grad">(), {dy}, attrs);
}

}  // namespace firn
