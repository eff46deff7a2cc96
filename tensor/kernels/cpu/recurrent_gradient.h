#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_GRADIENT_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_GRADIENT_H_

// Parts shared by the gradients of recurrent layers: the walk back, and the products after it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/gemm.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"
#include "firn/tensor/kernels/cpu/recurrent_layer.h"
#include "firn/tensor/kernels/cpu/recurrent_product.h"
#include "firn/tensor/kernels/cpu/recurrent_steps.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

// The products over all steps that end a gradient. Rows of the gates' gradients get some padding
// where powers of two between rows would put a whole column into the same few places of the caches.
// Except by tiles, a weight's gradient is computed transposed, which packs the shorter rows: for
// 2048 rows, 1024 gates and 256 units that gave 167 GFLOP/s on a Sapphire Rapids core instead of
// 130.
template <class T>
class GradProducts {
 public:
  static int64_t RowStep(int64_t gates) {
    constexpr int64_t kLine = 64 / sizeof(T);
    return gates % (16 * kLine) == 0 ? gates + kLine : gates;
  }
  // `state`, `in`: the widths of the weights' products; narrower ones may take more room. `tiles`:
  // numbers other than the gates' gradients are bfloat16, and multiplied by AMX. Requires
  // RecurrentTiles().
  GradProducts(int64_t rows, int64_t gates, int64_t state, int64_t in, bool tiles,
               RecurrentScratch& scratch)
      : rows_(rows),
        gates_(gates),
        in_(in),
        tiles_(tiles),
        transposed_(scratch.Take<T>(tiles ? 0 : gates * std::max(state, in))) {
    const size_t bytes = std::max(
        {Workspace(WeightShape(state)), Workspace(WeightShape(in)), Workspace(InputShape())});
    gemm_ = scratch.Take<char>(static_cast<int64_t>(bytes));
  }
  // dw [gates, width] = dgates^T x, of rows of x that are `width` long.
  void Weight(const T* x, int64_t width, const T* dgates, T* dw) const {
    AddToWeight(WeightShape(width), x, dgates, dw, false);
    Store(width, dw);
  }
  // The same for the states before each step, which are rows of y and h0. `before` has room for
  // copies where not all sequences have all steps: StatesBefore.
  void Recurrent(const TimeSteps& s, const T* y, const T* h0, int64_t width, const T* dgates,
                 T* before, T* dw) const {
    if (s.sizes != nullptr) {
      StatesBefore(s, width, y, h0, before);
      return Weight(before, width, dgates, dw);
    }
    GemmShape product = WeightShape(width);
    product.k = rows_ - s.batch;
    const int64_t step = RowStep(gates_), rest = s.batch * step;
    const bool several = product.k > 0;
    if (several) {
      AddToWeight(product, s.reverse ? y + s.batch * width : y, s.reverse ? dgates : dgates + rest,
                  dw, false);
    }
    product.k = s.batch;
    AddToWeight(product, h0, s.reverse ? dgates + (rows_ - s.batch) * step : dgates, dw, several);
    Store(width, dw);
  }
  // Elements of `before`.
  static int64_t BeforeSize(const RecurrentLayerAttrs& a, int64_t rows, int64_t width) {
    return a.batch_sizes.empty() ? 0 : rows * width;
  }
  // The gradients of w_ih, of b_ih and, if it is wanted, of x.
  void OfInput(KernelContext& k, const T* dgates) const {
    using In = RecurrentGradIn;
    using Out = RecurrentGradOut;
    Weight(k.in<T>(In::kX), in_, dgates, k.out<T>(Out::kDwih));
    Bias(dgates, k.out<T>(Out::kDb));
    if (k.attrs<RecurrentGradAttrs>().wants_dx) {
      Input(dgates, k.in<T>(In::kWih), k.out<T>(Out::kDx));
    }
  }
  // dx = dgates w_ih.
  void Input(const T* dgates, const T* w_ih, T* dx) const {
    Multiply(InputShape(), dgates, w_ih, dx, false);
  }
  // The sums of columns, each from the first row to the last.
  void Bias(const T* dgates, T* db) const {
    ParallelFor(gates_, std::max<int64_t>(64, 262144 / std::max<int64_t>(rows_, 1)),
                [&](int64_t begin, int64_t end) {
                  std::fill(db + begin, db + end, T{0});
                  for (int64_t r = 0; r < rows_; ++r) {
                    const T* const row = dgates + r * RowStep(gates_);
                    FIRN_INDEPENDENT_STEPS
                    for (int64_t i = begin; i < end; ++i) db[i] += row[i];
                  }
                });
  }

 private:
  // By tiles, the gates' gradients, on the left, are not bfloat16, but the other operand is.
  static constexpr TileParts kParts = {2, 1};
  static constexpr double kWorthTiles = 4e6;

  bool ByTiles(const GemmShape& s) const {
    constexpr int64_t kLeast = 16;  // less fills no tile
    return tiles_ && std::min({s.m, s.n, s.k}) >= kLeast && s.flops() >= kWorthTiles;
  }
  size_t Workspace(const GemmShape& s) const {
    const size_t bytes = GemmWorkspace(DTypeOf<T>(), s);
    return tiles_ ? std::max(bytes, GemmByTilesWorkspace(s, kParts)) : bytes;
  }
  void Multiply(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate) const {
    if constexpr (std::is_same_v<T, float>) {
      if (ByTiles(s)) return GemmByTiles(s, kParts, a, b, c, accumulate, gemm_);
    }
    Gemm(s, a, b, c, accumulate, gemm_);
  }
  // For `s`, a WeightShape of some rows.
  void AddToWeight(const GemmShape& s, const T* x, const T* dgates, T* dw, bool accumulate) const {
    if (tiles_) return Multiply(s, dgates, x, dw, accumulate);
    Multiply(s, x, dgates, transposed_, accumulate);
  }
  void Store(int64_t width, T* dw) const {
    if (tiles_ || width == 0) return;
    inner::internal::CopyStrided({{gates_, 1, width}, {width, gates_, 1}}, sizeof(T), transposed_,
                                 dw);
  }
  GemmShape WeightShape(int64_t width) const {
    if (tiles_) {
      return {.m = gates_,
              .n = width,
              .k = rows_,
              .a = {1, RowStep(gates_)},
              .b = {width, 1},
              .c_row = width};
    }
    return {.m = width,
            .n = gates_,
            .k = rows_,
            .a = {1, width},
            .b = {RowStep(gates_), 1},
            .c_row = gates_};
  }
  GemmShape InputShape() const {
    return {
        .m = rows_, .n = in_, .k = gates_, .a = {RowStep(gates_), 1}, .b = {in_, 1}, .c_row = in_};
  }

  int64_t rows_, gates_, in_;
  bool tiles_;
  T* transposed_;
  void* gemm_;
};

// The gradient with which the walk back begins: the given one, or zeros.
template <class T>
void BeginGrad(const T* given, int64_t size, T* to) {
  if (given == nullptr) {
    std::fill_n(to, size, T{0});
  } else {
    std::copy_n(given, size, to);
  }
}

// The gradient of the states before a step: dh = dgates w_hh, or dh += that. Row b of dh is that of
// sequence b at any time.
template <class T>
struct BackProduct {
  const Panels<T>& weights;
  const T* dgates;
  int64_t dgates_step;
  T* dh;
  int64_t state;
  bool accumulate;

  // Computes a piece of the step that has rows [at, at + rows).
  void operator()(int64_t at, int64_t rows, const StepPiece& piece) const {
    const int64_t begin = piece.row_begin, end = std::min(piece.row_end, rows);
    if (begin < end) {
      weights.Multiply(piece.panel_begin, piece.panel_end, end - begin,
                       dgates + (at + begin) * dgates_step, dgates_step, dh + begin * state, state,
                       accumulate);
    }
  }
};

// Some sequences of a step and some units: what a kernel's pass over a step works on. `carried`:
// the sequences have the step that is computed before it.
struct StepBlock {
  TimeStep step;
  int64_t begin, end, first_unit, last_unit;
  bool carried;
};

// The walk back: adds dy, if any, to dh and calls f(block) for all blocks of a step, once dh
// includes the gradient from the step computed after it; at the end dh is the gradient of the
// initial states.
template <class T, class F>
void WalkBack(const TimeSteps& steps, const StepGrid& grid, const BackProduct<T>& through,
              const T* dy, const F& f) {
  const int64_t width = through.state;
  ForEachStepAndPiece(steps, grid, true, [&](const TimeStep& step, const StepPiece& piece) {
    through(step.after, step.after_rows, piece);
    const int64_t first = through.weights.UnitBegin(piece.panel_begin);
    const int64_t last = through.weights.UnitBegin(piece.panel_end);
    ForEachPart(step, piece, [&](int64_t begin, int64_t end, bool carried) {
      for (int64_t b = begin; dy != nullptr && b < end; ++b) {
        const T* const from = dy + (step.at + b) * width;
        T* const to = through.dh + b * width;
        FIRN_INDEPENDENT_STEPS
        for (int64_t u = first; u < last; ++u) to[u] += from[u];
      }
      f(StepBlock{step, begin, end, first, last, carried});
    });
  });
  const TimeStep first = FirstStep(steps);
  ForEachStepPiece(grid, [&](const StepPiece& piece) { through(first.at, first.rows, piece); });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_GRADIENT_H_
