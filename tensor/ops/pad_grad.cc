// pad_grad: for each row of dx, the rows of dy that were copied from it are added up, each with its
// borders folded back. Rows are independent, so sums do not depend on the number of threads. Half
// types accumulate in float, in a row of scratch memory a thread.

#include "tensor/ops/pad_grad.h"

#include <algorithm>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/parts.h"
#include "tensor/op.h"
#include "tensor/padding.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
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

absl::Status Run(KernelContext& k) {
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

void Grad(GradContext& g) {
  const PadAttrs& a = g.attrs<PadAttrs>();
  g.set_grad_input(0, Pad(g.grad_output(), a.pad, {.mode = a.mode}));
}

FIRN_REGISTER_OP(pad_grad) {
  return {
      .name = "pad_grad",
      .doc = "The adjoint of pad.",
      .inputs = {{.name = "dy", .dtypes = kFloating}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

Tensor inner::PadGrad(const Tensor& dy, const PadAttrs& attrs) {
  static const OpDef& op = Op("pad_grad");
  return Apply1(op, {dy}, attrs);
}

}  // namespace firn
