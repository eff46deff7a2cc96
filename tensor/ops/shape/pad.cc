// pad: row by row; in the last dimension the part that is x itself is copied as a block, the rest
// element by element. The gradient of constant padding is the opposite padding.
//
// pad_grad: for each row of dx, the rows of dy that were copied from it are added up, each with its
// borders folded back. Rows are independent, so sums do not depend on the number of threads. Half
// types accumulate in float, in a row of scratch memory a thread.

#include "tensor/ops/shape/pad.h"

#include <algorithm>
#include <cstring>

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/kernels/convert.h"
#include "tensor/kernels/cpu/parts.h"
#include "tensor/op.h"
#include "tensor/ops/shape/padding.h"

namespace firn {
namespace {

absl::Status InferPad(InferContext& c) {
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

absl::Status RunPad(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  const PadAttrs& a = k.attrs<PadAttrs>();
  FIRN_ASSIGN_OR_RETURN(PadDims dims, ResolvePadding(x.shape, a));
  Dims strides = x.layout.strides;
  if (dims.empty()) {  // 0-d
    dims.push_back({.size = 1});
    strides.push_back(1);
  }
  VisitDType(x.dtype, [&]<class T>(TypeTag<T>) {
    PadAll<T>(dims, strides, k.in<T>(0), ConvertTo<T>(a.value), k.out<T>());
  });
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
      .kernels = {{.name = "loop", .run = RunPad, .takes = Takes::kStrided}},
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

int64_t Grain(int64_t row) { return std::max<int64_t>(1, 8192 / std::max<int64_t>(row, 1)); }

struct Rows {
  int64_t length, count;
};
Rows RowsOf(const Shape& dx) {
  const int64_t length = dx.rank() == 0 ? 1 : dx.dim(-1);
  return {length, length == 0 ? 0 : dx.num_elements() / length};
}

size_t Workspace(const KernelQuery& q) {
  const Rows rows = RowsOf(q.out().shape);
  return static_cast<size_t>(cpu::NumParts(rows.count, Grain(rows.length)) * rows.length) *
         sizeof(double);
}

template <class T, class Acc>
void AddRow(const PadDim& d, const T* dy, Acc* acc) {
  const int64_t n = d.padded();
  const int64_t begin = std::clamp<int64_t>(d.left, 0, n);
  const int64_t end = std::clamp<int64_t>(d.left + d.size, begin, n);
  const auto fold = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t s = d.Source(i);
      if (s >= 0) acc[s] += static_cast<Acc>(dy[i]);
    }
  };
  fold(0, begin);
  for (int64_t i = begin; i < end; ++i) acc[i - d.left] += static_cast<Acc>(dy[i]);
  fold(end, n);
}

// Adds all copies of row `r` of dx.
template <class T, class Acc>
void AddCopies(const PadDims& dims, int64_t r, const T* dy, Acc* acc) {
  const size_t outer = dims.size() - 1;
  PadDim::Ranges copies[kMaxRank];
  int64_t combinations = 1;
  for (size_t d = outer; d-- > 0;) {
    copies[d] = dims[d].CopiesOf(r % dims[d].size);
    r /= dims[d].size;
    combinations *= copies[d].count();
  }
  for (int64_t c = 0; c < combinations; ++c) {
    int64_t rest = c, at = 0, stride = 1;
    for (size_t d = outer; d-- > 0;) {
      at += copies[d][rest % copies[d].count()] * stride;
      rest /= copies[d].count();
      stride *= dims[d].padded();
    }
    AddRow(dims[outer], dy + at * dims[outer].padded(), acc);
  }
}

absl::Status RunPadGrad(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(PadDims dims, ResolveUnpadding(k.in_spec(0).shape, k.attrs<PadAttrs>()));
  if (dims.empty()) dims.push_back({.size = 1});  // 0-d
  const Rows rows = RowsOf(k.out_spec().shape);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    const T* dy = k.in<T>(0);
    T* dx = k.out<T>();
    cpu::ForEachPart(rows.count, Grain(rows.length), [&](int64_t part, int64_t begin, int64_t end) {
      Acc* acc = k.workspace<Acc>() + part * rows.length;
      for (int64_t r = begin; r < end; ++r) {
        std::fill(acc, acc + rows.length, Acc{0});
        AddCopies(dims, r, dy, acc);
        std::transform(acc, acc + rows.length, dx + r * rows.length,
                       [](Acc a) { return static_cast<T>(a); });
      }
    });
  });
  return absl::OkStatus();
}

void GradPadGrad(GradContext& g) {
  const PadAttrs& a = g.attrs<PadAttrs>();
  g.set_grad_input(0, Pad(g.grad_output(), a.pad, {.mode = a.mode}));
}

FIRN_REGISTER_OP(pad_grad) {
  return {
      .doc = "The adjoint of pad.",
      .inputs = {{.name = "dy", .dtypes = kFloating}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = InferPadGrad,
      .grad = GradPadGrad,
      .kernels = {{.name = "loop", .workspace = Workspace, .run = RunPadGrad}},
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
