// The simplest layers, which work like lstm_layer (lstm_kernels.cc): sums are formed in y, and y is
// all that their gradients need.

#include "firn/tensor/kernels/cpu/rnn_kernels.h"

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/recurrent_gradient.h"
#include "firn/tensor/kernels/cpu/recurrent_layer.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/math.h"

namespace firn::cpu {
namespace {

using In = RecurrentIn;
using Out = RecurrentOut;
using GradIn = RecurrentGradIn;
using GradOut = RecurrentGradOut;

struct Sizes {
  int64_t rows, batch, hidden, in;
  bool tiles;

  PanelShape input() const { return {1, hidden, in, 1, in, tiles}; }
  PanelShape step() const { return {1, hidden, hidden, 1, hidden, tiles}; }
  PanelShape back() const { return {1, hidden, hidden, hidden, 1, tiles, 2}; }
};

Sizes SizesOf(const TensorSpec& x, const TensorSpec& h0, const TensorSpec& y, bool tiles) {
  const int64_t hidden = h0.shape[1];
  return {y.num_elements() / hidden, h0.shape[0], hidden, x.shape.dim(-1), tiles};
}

template <RnnNonlinearity kNonlinearity, class T>
FIRN_ALWAYS_INLINE T Apply(T x) {
  // NaN stays.
  if constexpr (kNonlinearity == RnnNonlinearity::kRelu) return x < T{0} ? T{0} : x;
  return math::Tanh(x);
}
template <RnnNonlinearity kNonlinearity, class T>
FIRN_ALWAYS_INLINE T Slope(T y) {
  if constexpr (kNonlinearity == RnnNonlinearity::kRelu) return y > T{0} ? T{1} : T{0};
  return T{1} - y * y;
}

template <class T>
struct Scratch {
  RecurrentScratch scratch;
  InputSums<T> input;
  T* weights;

  explicit Scratch(const Sizes& s, void* base = nullptr)
      : scratch(base),
        input(s.input(), s.rows, s.hidden, scratch),
        weights(scratch.Take<T>(Panels<T>::Size(s.step()))) {}
};

template <RnnNonlinearity kNonlinearity, class T>
void Forward(KernelContext& k, bool tiles) {
  const Sizes s = SizesOf(k.in_spec(In::kX), k.in_spec(In::kH0), k.out_spec(Out::kY), tiles);
  Scratch<T> scratch(s, k.workspace());
  const T *const h0 = k.in<T>(In::kH0), *const x = k.in<T>(In::kX);
  T* const y = k.out<T>(Out::kY);
  const int64_t hidden = s.hidden;
  scratch.input.SetBias(k.in<T>(In::kBih), k.in<T>(In::kBhh));
  scratch.input.Begin(x, k.in<T>(In::kWih), y);
  Panels<T> panels(s.step(), scratch.weights);
  PackAll(panels, k.in<T>(In::kWhh));
  const TimeSteps steps = StepsOf(k.in_spec(In::kX).shape, s.batch, k.attrs<RecurrentLayerAttrs>());
  ForEachStepAndPiece(
      steps, PlanFor<T>(steps, s.step()), false, [&](const auto& step, const auto& piece) {
        const int64_t first = panels.UnitBegin(piece.panel_begin);
        const int64_t last = panels.UnitBegin(piece.panel_end);
        ForEachPart(step, piece, [&](int64_t begin, int64_t end, bool carried) {
          const int64_t at = step.at + begin;
          const T* const h = carried ? y + (step.before + begin) * hidden : h0 + begin * hidden;
          scratch.input.Step(x, at, step.at + end, piece, y);
          panels.Multiply(piece.panel_begin, piece.panel_end, end - begin, h, hidden,
                          y + at * hidden, hidden, true);
          for (int64_t row = at; row < step.at + end; ++row) {
            T* const to = y + row * hidden;
            FIRN_INDEPENDENT_STEPS
            for (int64_t u = first; u < last; ++u) to[u] = Apply<kNonlinearity>(to[u]);
          }
        });
      });
  FinalStates(steps, hidden, y, k.out<T>(Out::kHn));
}

template <RnnNonlinearity kNonlinearity>
struct ForwardPass {
  template <class T>
  static size_t Workspace(const KernelQuery& q, bool tiles) {
    const Sizes s = SizesOf(q.in(In::kX), q.in(In::kH0), q.out(Out::kY), tiles);
    return Scratch<T>(s).scratch.used();
  }
  template <class T>
  static void Run(KernelContext& k, bool tiles) {
    Forward<kNonlinearity, T>(k, tiles);
  }
};

// --- The gradient --------------------------------------------------------------------------------

template <class T>
struct GradScratch {
  RecurrentScratch scratch;
  T *weights, *before, *dsums;
  GradProducts<T> products;

  GradScratch(const Sizes& s, const RecurrentLayerAttrs& attrs, void* base = nullptr)
      : scratch(base),
        weights(scratch.Take<T>(Panels<T>::Size(s.back()))),
        before(scratch.Take<T>(GradProducts<T>::BeforeSize(attrs, s.rows, s.hidden))),
        dsums(scratch.Take<T>(s.rows * Step(s))),
        products(s.rows, s.hidden, s.hidden, s.in, s.tiles, scratch) {}
  static int64_t Step(const Sizes& s) { return GradProducts<T>::RowStep(s.hidden); }
};

template <RnnNonlinearity kNonlinearity, class T>
void Backward(KernelContext& k, bool tiles) {
  const auto& attrs = k.attrs<RecurrentGradAttrs>();
  const Sizes s =
      SizesOf(k.in_spec(GradIn::kX), k.in_spec(GradIn::kH0), k.in_spec(GradIn::kY), tiles);
  const int64_t hidden = s.hidden, row_step = GradScratch<T>::Step(s);
  const GradScratch<T> scratch(s, attrs.layer, k.workspace());
  const TimeSteps steps = StepsOf(k.in_spec(GradIn::kY).shape, s.batch, attrs.layer);
  Panels<T> weights(s.back(), scratch.weights);
  PackAll(weights, k.in<T>(GradIn::kWhh));
  const T* const y = k.in<T>(GradIn::kY);
  T* const dh = k.out<T>(GradOut::kDh0);
  BeginGrad(k.in<T>(GradIn::kDhn), s.batch * hidden, dh);
  const BackProduct<T> through{weights, scratch.dsums, row_step, dh, hidden, false};
  WalkBack(steps, PlanFor<T>(steps, s.back()), through, k.in<T>(GradIn::kDy),
           [&](const StepBlock& block) {
             for (int64_t b = block.begin; b < block.end; ++b) {
               const T *const of_row = y + (block.step.at + b) * hidden, *const d = dh + b * hidden;
               T* const to = scratch.dsums + (block.step.at + b) * row_step;
               FIRN_INDEPENDENT_STEPS
               for (int64_t u = block.first_unit; u < block.last_unit; ++u) {
                 to[u] = d[u] * Slope<kNonlinearity>(of_row[u]);
               }
             }
           });
  const GradProducts<T>& products = scratch.products;
  products.Recurrent(steps, y, k.in<T>(GradIn::kH0), hidden, scratch.dsums, scratch.before,
                     k.out<T>(GradOut::kDwhh));
  products.OfInput(k, scratch.dsums);
}

template <RnnNonlinearity kNonlinearity>
struct BackwardPass {
  template <class T>
  static size_t Workspace(const KernelQuery& q, bool tiles) {
    const Sizes s = SizesOf(q.in(GradIn::kX), q.in(GradIn::kH0), q.in(GradIn::kY), tiles);
    return GradScratch<T>(s, q.attrs<RecurrentGradAttrs>().layer).scratch.used();
  }
  template <class T>
  static void Run(KernelContext& k, bool tiles) {
    Backward<kNonlinearity, T>(k, tiles);
  }
};

}  // namespace

std::vector<Kernel> RnnKernels(RnnNonlinearity nonlinearity) {
  return nonlinearity == RnnNonlinearity::kTanh ? KernelsOf<ForwardPass<RnnNonlinearity::kTanh>>()
                                                : KernelsOf<ForwardPass<RnnNonlinearity::kRelu>>();
}
std::vector<Kernel> RnnGradKernels(RnnNonlinearity nonlinearity) {
  return nonlinearity == RnnNonlinearity::kTanh ? KernelsOf<BackwardPass<RnnNonlinearity::kTanh>>()
                                                : KernelsOf<BackwardPass<RnnNonlinearity::kRelu>>();
}

}  // namespace firn::cpu
