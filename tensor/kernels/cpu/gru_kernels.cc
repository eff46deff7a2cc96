// gru_layer works like lstm_layer (lstm_kernels.cc), with four numbers for each unit: r, z, n and
// w_hn h + b_hn, which r multiplies in n and which the gradient needs as well. gru_layer_grad: the
// gradients of x w_ih^T and of h w_hh^T differ in n, where r stands between.

#include "firn/tensor/kernels/cpu/gru_kernels.h"

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/recurrent_gradient.h"
#include "firn/tensor/kernels/cpu/recurrent_layer.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::cpu {
namespace {

using In = RecurrentIn;
using Out = GruOut;
using GradIn = GruGradIn;
using GradOut = GruGradOut;

constexpr int64_t kGates = 3, kKept = 4;

struct Sizes {
  int64_t rows, batch, hidden, in;
  bool tiles;

  PanelShape input() const { return {kGates, hidden, in, 1, in, tiles}; }
  PanelShape step() const { return {kGates, hidden, hidden, 1, hidden, tiles}; }
  PanelShape back() const { return {1, hidden, kGates * hidden, hidden, 1, tiles, 2}; }
};

Sizes SizesOf(const TensorSpec& x, const TensorSpec& h0, const TensorSpec& gates, bool tiles) {
  return {gates.shape[0], h0.shape[0], h0.shape[1], x.shape.dim(-1), tiles};
}

// Computes the gates of a row's units [begin, end), in place of their sums, and the state.
template <class T>
void Gates(int64_t hidden, int64_t begin, int64_t end, const T* before, T* gates, T* h) {
  T* const reset = gates;
  T* const update = gates + hidden;
  T* const candidate = gates + 2 * hidden;
  const T* const inner = gates + 3 * hidden;
  FIRN_INDEPENDENT_STEPS
  for (int64_t u = begin; u < end; ++u) {
    const T r = math::Sigmoid(reset[u]), z = math::Sigmoid(update[u]);
    const T n = math::Tanh(candidate[u] + r * inner[u]);
    reset[u] = r;
    update[u] = z;
    candidate[u] = n;
    h[u] = (1 - z) * n + z * before[u];
  }
}

template <class T>
struct Scratch {
  RecurrentScratch scratch;
  InputSums<T> input;
  T* weights;

  explicit Scratch(const Sizes& s, void* base = nullptr)
      : scratch(base),
        input(s.input(), s.rows, kKept * s.hidden, scratch),
        weights(scratch.Take<T>(Panels<T>::Size(s.step()))) {}
};

template <class T>
void Forward(KernelContext& k, bool tiles) {
  const Sizes s = SizesOf(k.in_spec(In::kX), k.in_spec(In::kH0), k.out_spec(Out::kGates), tiles);
  Scratch<T> scratch(s, k.workspace());
  const T *const h0 = k.in<T>(In::kH0), *const x = k.in<T>(In::kX);
  T *const y = k.out<T>(Out::kY), *const gates = k.out<T>(Out::kGates);
  const int64_t hidden = s.hidden;
  for (int64_t i = 0; i < kKept * hidden; ++i) {
    // n keeps its two biases apart.
    const T *const b_ih = k.in<T>(In::kBih), *const b_hh = k.in<T>(In::kBhh);
    const bool shared = i < 2 * hidden, of_h = i >= 3 * hidden;
    const T from_x = b_ih != nullptr && !of_h ? b_ih[i] : T{0};
    const T from_h = b_hh != nullptr && (shared || of_h) ? b_hh[of_h ? i - hidden : i] : T{0};
    scratch.input.bias()[i] = from_x + from_h;
  }
  scratch.input.Begin(x, k.in<T>(In::kWih), gates);
  Panels<T> panels(s.step(), scratch.weights);
  PackAll(panels, k.in<T>(In::kWhh));
  const TimeSteps steps = StepsOf(k.in_spec(In::kX).shape, s.batch, k.attrs<RecurrentLayerAttrs>());
  const int64_t places[] = {0, hidden, 3 * hidden};
  ForEachStepAndPiece(
      steps, PlanFor<T>(steps, s.step()), false, [&](const auto& step, const auto& piece) {
        const int64_t first = panels.UnitBegin(piece.panel_begin);
        const int64_t last = panels.UnitBegin(piece.panel_end);
        ForEachPart(step, piece, [&](int64_t begin, int64_t end, bool carried) {
          const int64_t at = step.at + begin;
          const T* const h = carried ? y + (step.before + begin) * hidden : h0 + begin * hidden;
          T* const of_step = gates + at * kKept * hidden;
          scratch.input.Step(x, at, step.at + end, piece, gates);
          panels.Multiply(piece.panel_begin, piece.panel_end, end - begin, h, hidden, of_step,
                          kKept * hidden, true, places);
          for (int64_t i = 0; i < end - begin; ++i) {
            Gates(hidden, first, last, h + i * hidden, of_step + i * kKept * hidden,
                  y + (at + i) * hidden);
          }
        });
      });
  FinalStates(steps, hidden, y, k.out<T>(Out::kHn));
}

struct ForwardPass {
  template <class T>
  static size_t Workspace(const KernelQuery& q, bool tiles) {
    const Sizes s = SizesOf(q.in(In::kX), q.in(In::kH0), q.out(Out::kGates), tiles);
    return Scratch<T>(s).scratch.used();
  }
  template <class T>
  static void Run(KernelContext& k, bool tiles) {
    Forward<T>(k, tiles);
  }
};

// --- The gradient --------------------------------------------------------------------------------

// Computes the gradients of x w_ih^T and of h w_hh^T from dh of a row's units [begin, end); dh
// becomes the part of the previous state's gradient that does not go through these products.
template <class T>
void GatesGrad(int64_t hidden, int64_t begin, int64_t end, const T* before, const T* gates, T* dh,
               T* dgx, T* dgh) {
  const T* const reset = gates;
  const T* const update = gates + hidden;
  const T* const candidate = gates + 2 * hidden;
  const T* const inner = gates + 3 * hidden;
  FIRN_INDEPENDENT_STEPS
  for (int64_t u = begin; u < end; ++u) {
    const T r = reset[u], z = update[u], n = candidate[u], d = dh[u];
    const T dn = d * (1 - z) * (1 - n * n);
    const T dr = dn * inner[u] * (r * (1 - r)), dz = d * (before[u] - n) * (z * (1 - z));
    dgx[u] = dgh[u] = dr;
    dgx[hidden + u] = dgh[hidden + u] = dz;
    dgx[2 * hidden + u] = dn;
    dgh[2 * hidden + u] = dn * r;
    dh[u] = d * z;
  }
}

template <class T>
struct GradScratch {
  RecurrentScratch scratch;
  T *weights, *before, *dgx, *dgh;
  GradProducts<T> products;

  GradScratch(const Sizes& s, const RecurrentLayerAttrs& attrs, void* base = nullptr)
      : scratch(base),
        weights(scratch.Take<T>(Panels<T>::Size(s.back()))),
        before(scratch.Take<T>(GradProducts<T>::BeforeSize(attrs, s.rows, s.hidden))),
        dgx(scratch.Take<T>(s.rows * Step(s))),
        dgh(scratch.Take<T>(s.rows * Step(s))),
        products(s.rows, kGates * s.hidden, s.hidden, s.in, s.tiles, scratch) {}
  static int64_t Step(const Sizes& s) { return GradProducts<T>::RowStep(kGates * s.hidden); }
};

template <class T>
void Backward(KernelContext& k, bool tiles) {
  const auto& attrs = k.attrs<RecurrentGradAttrs>();
  const Sizes s =
      SizesOf(k.in_spec(GradIn::kX), k.in_spec(GradIn::kH0), k.in_spec(GradIn::kGates), tiles);
  const int64_t hidden = s.hidden, row_step = GradScratch<T>::Step(s);
  const GradScratch<T> scratch(s, attrs.layer, k.workspace());
  const TimeSteps steps = StepsOf(k.in_spec(GradIn::kY).shape, s.batch, attrs.layer);
  Panels<T> weights(s.back(), scratch.weights);
  PackAll(weights, k.in<T>(GradIn::kWhh));
  const T *const y = k.in<T>(GradIn::kY), *const h0 = k.in<T>(GradIn::kH0);
  const T* const gates = k.in<T>(GradIn::kGates);
  T* const dh = k.out<T>(GradOut::kDh0);
  BeginGrad(k.in<T>(GradIn::kDhn), s.batch * hidden, dh);
  const BackProduct<T> through{weights, scratch.dgh, row_step, dh, hidden, true};
  WalkBack(steps, PlanFor<T>(steps, s.back()), through, k.in<T>(GradIn::kDy),
           [&](const StepBlock& block) {
             for (int64_t b = block.begin; b < block.end; ++b) {
               const int64_t row = block.step.at + b;
               const T* const before =
                   block.carried ? y + (block.step.before + b) * hidden : h0 + b * hidden;
               GatesGrad(hidden, block.first_unit, block.last_unit, before,
                         gates + row * kKept * hidden, dh + b * hidden,
                         scratch.dgx + row * row_step, scratch.dgh + row * row_step);
             }
           });
  const GradProducts<T>& products = scratch.products;
  products.Recurrent(steps, y, h0, hidden, scratch.dgh, scratch.before, k.out<T>(GradOut::kDwhh));
  products.OfInput(k, scratch.dgx);
  products.Bias(scratch.dgh, k.out<T>(GradOut::kDbhh));
}

struct BackwardPass {
  template <class T>
  static size_t Workspace(const KernelQuery& q, bool tiles) {
    const Sizes s = SizesOf(q.in(GradIn::kX), q.in(GradIn::kH0), q.in(GradIn::kGates), tiles);
    return GradScratch<T>(s, q.attrs<RecurrentGradAttrs>().layer).scratch.used();
  }
  template <class T>
  static void Run(KernelContext& k, bool tiles) {
    Backward<T>(k, tiles);
  }
};

}  // namespace

std::vector<Kernel> GruKernels() { return KernelsOf<ForwardPass>(); }
std::vector<Kernel> GruGradKernels() { return KernelsOf<BackwardPass>(); }

}  // namespace firn::cpu
