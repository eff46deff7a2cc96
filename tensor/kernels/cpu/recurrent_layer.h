#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_LAYER_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_LAYER_H_

// Parts shared by the kernels of recurrent layers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/gemm.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/in_f32.h"
#include "firn/tensor/kernels/cpu/recurrent_product.h"
#include "firn/tensor/kernels/cpu/recurrent_steps.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/recurrent_problem.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

// The kernel of a pass, a layer's or its gradient's, for f32 and f64. The pass has
//   template <class T> static size_t Workspace(const KernelQuery& q, bool tiles);
//   template <class T> static void Run(KernelContext& k, bool tiles);
// and multiplies by tiles (PanelShape) if it is told so.
template <class Pass, bool kTiles = false>
const std::vector<Kernel>& KernelsOfFullTypes() {
  static const auto* kernels = new std::vector<Kernel>{
      {.name = "panels",
       .workspace =
           [](const KernelQuery& q) {
             return VisitComputed(q.in(RecurrentIn::kX).dtype, [&]<class T>(TypeTag<T>) {
               return Pass::template Workspace<T>(q, kTiles);
             });
           },
       .run =
           [](KernelContext& k) {
             VisitComputed(k.in_spec(RecurrentIn::kX).dtype,
                           [&]<class T>(TypeTag<T>) { Pass::template Run<T>(k, kTiles); });
             return absl::OkStatus();
           }}};
  return *kernels;
}
// The same for half types too: in f32, with operands converted before and after. Products of
// bfloat16 use tiles where the processor has them.
template <class Pass>
std::vector<Kernel> KernelsOf() {
  Kernel kernel = KernelsOfFullTypes<Pass>()[0];
  kernel.workspace = nullptr;
  kernel.prepare = [](const KernelQuery& q, Prepared& answer) {
    const DType dtype = q.in(RecurrentIn::kX).dtype;
    if (IsHalf(dtype)) {
      const Kernel in_f32 = dtype == DType::kBF16 && RecurrentTiles()
                                ? InF32<KernelsOfFullTypes<Pass, true>>()
                                : InF32<KernelsOfFullTypes<Pass>>();
      answer.run = in_f32.run;
      return in_f32.prepare(q, answer);
    }
    answer.workspace = KernelsOfFullTypes<Pass>()[0].workspace(q);
    return absl::OkStatus();
  };
  return {std::move(kernel)};
}

// `x`: the sequences, or what has their shape.
TimeSteps StepsOf(const Shape& x, int64_t batch, const RecurrentLayerAttrs& attrs);

// Hands out workspace in pieces aligned to a cache line; with a null base it only counts bytes.
class RecurrentScratch {
 public:
  explicit RecurrentScratch(void* base = nullptr) : base_(static_cast<char*>(base)) {}
  template <class T>
  T* Take(int64_t elements) {
    char* const piece = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<size_t>(elements) * sizeof(T) + 63) & ~size_t{63};
    return reinterpret_cast<T*>(piece);
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

// Packs a weight, on all threads where it is large. That of a small cell, which is called for each
// step, takes less than the threads take to meet.
template <class T>
void PackAll(Panels<T>& panels, const T* weight) {
  constexpr int64_t kElements = 16384;  // worth a thread
  const int64_t grain = kElements * panels.count() / std::max<int64_t>(1, panels.size());
  ParallelFor(panels.count(), std::max<int64_t>(2, grain), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) panels.Pack(weight, i);
  });
}

template <class T>
StepGrid PlanFor(const TimeSteps& steps, const PanelShape& s, bool whole_rows = false) {
  const double elements = static_cast<double>(s.groups * s.units) * static_cast<double>(s.depth);
  const bool tiles = Panels<T>::ByTiles(s);
  return PlanSteps(steps, Panels<T>::Count(s),
                   {.flops = 2 * elements * static_cast<double>(steps.batch),
                    .bytes = elements * (tiles ? sizeof(uint16_t) : sizeof(T)),
                    .few_rows = tiles ? inner::internal::kTileRows : 8},
                   whole_rows);
}

// The part of all steps' sums that does not depend on the states: x w_ih^T + bias, in rows that are
// `row_step` apart. Weights that stay in a cache beside the recurrent ones are packed and
// multiplied at each step, so that its sums are still in cache; other weights are multiplied once
// for all steps, before the walk.
template <class T>
class InputSums {
 public:
  // `shape`: that of w_ih. `bias`: [row_step].
  InputSums(const PanelShape& shape, int64_t rows, int64_t row_step, RecurrentScratch& scratch)
      : shape_(OfInput(shape)),
        rows_(rows),
        row_step_(row_step),
        bias_(scratch.Take<T>(row_step)),
        by_step_(shape.depth * shape.groups * shape.units <= (shape.tiles ? 2 : 1) * kNear),
        panels_(shape_, scratch.Take<T>(by_step_ ? Panels<T>::Size(shape) : 0)),
        panel_bias_(scratch.Take<T>(by_step_ ? PanelBiasSize() : 0)) {
    const size_t bytes = by_step_ ? 0 : GemmWorkspace(DTypeOf<T>(), Product());
    gemm_ = scratch.Take<char>(static_cast<int64_t>(bytes));
  }
  T* bias() const { return bias_; }

  // Sets the bias where it is simply the sum of both; either may be null.
  void SetBias(const T* b_ih, const T* b_hh) const {
    for (int64_t i = 0; i < row_step_; ++i) {
      bias_[i] = (b_ih != nullptr ? b_ih[i] : T{0}) + (b_hh != nullptr ? b_hh[i] : T{0});
    }
  }

  // Called before the walk.
  void Begin(const T* x, const T* w_ih, T* sums) {
    if (by_step_) {
      PackBias();
      return PackAll(panels_, w_ih);
    }
    FillRows(0, rows_, 0, row_step_, sums);
    Gemm(Product(), x, w_ih, sums, true, gemm_);
  }
  // Computes rows [begin, end) of all, and a piece's columns, before the recurrent product.
  void Step(const T* x, int64_t begin, int64_t end, const StepPiece& piece, T* sums) const {
    if (!by_step_) return;
    const int64_t first = panels_.UnitBegin(piece.panel_begin);
    const int64_t last = panels_.UnitBegin(piece.panel_end);
    // Columns of sums in which x has no part.
    for (int64_t g = shape_.groups * shape_.units; g < row_step_; g += shape_.units) {
      FillRows(begin, end, g + first, g + last, sums);
    }
    panels_.MultiplyOnto(piece.panel_begin, piece.panel_end, end - begin, x + begin * shape_.depth,
                         shape_.depth, bias_, sums + begin * row_step_, row_step_);
  }
  // Whether the sums of a step are this product and bias(); otherwise the sums already hold the
  // product with x.
  bool by_step() const { return by_step_; }
  const PanelShape& shape() const { return shape_; }
  PanelFactor Times(const T* x) const { return panels_.Times(x, shape_.depth); }
  // bias() of a panel's units: a vector for each gate, with zeros behind them.
  const T* PanelBias(int64_t panel) const {
    return panel_bias_ + panel * shape_.groups * kSimdLanes<T>;
  }

 private:
  static constexpr int64_t kNear = (768 << 10) / sizeof(T);

  int64_t PanelBiasSize() const { return shape_.groups * Panels<T>::Count(shape_) * kSimdLanes<T>; }
  void PackBias() const {
    if (shape_.groups == 1) return;  // whose panels are not used
    for (int64_t i = 0; i < PanelBiasSize(); ++i) {
      const int64_t vector = i / kSimdLanes<T>, group = vector % shape_.groups;
      const int64_t unit = vector / shape_.groups * kSimdLanes<T> + i % kSimdLanes<T>;
      panel_bias_[i] = unit < shape_.units ? bias_[group * shape_.units + unit] : T{0};
    }
  }

  // Where weights are bfloat16, so is x.
  static PanelShape OfInput(PanelShape s) {
    if (s.tiles) s.parts = 1;
    return s;
  }
  GemmShape Product() const {
    return {.m = rows_,
            .n = shape_.groups * shape_.units,
            .k = shape_.depth,
            .a = {shape_.depth, 1},
            .b = {1, shape_.depth},
            .c_row = row_step_};
  }
  void FillRows(int64_t begin, int64_t end, int64_t first, int64_t last, T* sums) const {
    for (int64_t i = begin; i < end; ++i) {
      std::copy(bias_ + first, bias_ + last, sums + i * row_step_ + first);
    }
  }

  PanelShape shape_;
  int64_t rows_, row_step_;
  T* bias_;
  bool by_step_;
  Panels<T> panels_;
  T* panel_bias_;
  void* gemm_;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_LAYER_H_
