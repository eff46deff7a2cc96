// pad: row by row; in the last dimension the part that is x itself is copied as a block, the rest
// element by element. The gradient of constant padding is the opposite padding.

#include "tensor/ops/pad.h"

#include <algorithm>
#include <cstring>

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/op.h"
#include "tensor/ops/pad_grad.h"
#include "tensor/padding.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolvePadding(c.shape(0), c.attrs<PadAttrs>()));
  Dims sizes;
  for (const PadDim& d : dims) sizes.push_back(d.padded());
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

template <class T>
void PadRow(const PadDim& d, const T* x, int64_t step, T value, T* y) {
  const int64_t n = d.padded();
  const int64_t begin = std::clamp<int64_t>(d.left, 0, n);  // the part that is x itself
  const int64_t end = std::clamp<int64_t>(d.left + d.size, begin, n);
  const auto edge = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t s = d.Source(i);
      y[i] = s < 0 ? value : x[s * step];
    }
  };
  edge(0, begin);
  const T* first = x + (begin - d.left) * step;
  if (step == 1) {
    std::copy(first, first + (end - begin), y + begin);
  } else {
    for (int64_t i = begin; i < end; ++i) y[i] = first[(i - begin) * step];
  }
  edge(end, n);
}

template <class T>
void PadAll(const PadDims& dims, const Dims& strides, const T* x, T value, T* y) {
  const int outer = static_cast<int>(dims.size()) - 1;
  const PadDim& row = dims.back();
  const int64_t n = row.padded();
  int64_t rows = 1;
  for (int d = 0; d < outer; ++d) rows *= dims[static_cast<size_t>(d)].padded();
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(n, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  int64_t rest = r, offset = 0;
                  bool constant = false;
                  for (int d = outer - 1; d >= 0; --d) {
                    const PadDim& dim = dims[static_cast<size_t>(d)];
                    const int64_t s = dim.Source(rest % dim.padded());
                    rest /= dim.padded();
                    constant |= s < 0;
                    offset += s * strides[d];
                  }
                  if (constant) {
                    std::fill(y + r * n, y + (r + 1) * n, value);
                  } else {
                    PadRow(row, x + offset, strides[outer], value, y + r * n);
                  }
                }
              });
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  const PadAttrs& a = k.attrs<PadAttrs>();
  FIRN_ASSIGN_OR_RETURN(PadDims dims, ResolvePadding(x.shape, a));
  Dims strides = x.layout.strides;
  if (dims.empty()) {  // 0-d
    dims.push_back({.size = 1});
    strides.push_back(1);
  }
  VisitDType(x.dtype, [&]<class T>(TypeTag<T>) {
    PadAll<T>(dims, strides, k.in<T>(0), cpu::ConvertTo<T>(a.value), k.out<T>());
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
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
      .name = "pad",
      .doc = "x with elements added (or cut off) around it.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = {{.name = "loop", .run = Run, .takes = Takes::kStrided}},
  };
}

}  // namespace

Tensor Pad(const Tensor& x, const std::vector<int64_t>& pad, const PadOptions& options) {
  static const OpDef& op = Op("pad");
  return Apply1(op, {x}, PadAttrs{pad, options.mode, options.value});
}

}  // namespace firn
