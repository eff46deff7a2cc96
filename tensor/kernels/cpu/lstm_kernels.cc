// lstm_layer: each step sums x w_ih^T + b_ih + b_hh + h w_hh^T, by weights that were packed once,
// and computes gates and both states from the sums (lstm_steps.h). Gates and cells are kept for the
// gradient.
//
// lstm_layer_grad: the walk back. A step's pass computes the gradients of its gates; their product
// with w_hh is the gradient of the step's initial h. The gradients of x and of the weights are one
// product each, over all steps. With a projection, which needs all units of a step, threads share
// out sequences and not units.

#include "firn/tensor/kernels/cpu/lstm_kernels.h"

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/lstm_steps.h"
#include "firn/tensor/kernels/cpu/recurrent_gradient.h"
#include "firn/tensor/kernels/cpu/recurrent_layer.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::cpu {
namespace {

using namespace lstm;

using In = RecurrentIn;
using Out = LstmOut;
using GradIn = LstmGradIn;
using GradOut = LstmGradOut;

Sizes SizesOf(const Shape& rows, const TensorSpec& h0, const TensorSpec& cells, bool projected,
              bool tiles) {
  const int64_t hidden = cells.shape.dim(-1);
  return {rows.num_elements() / rows.dim(-1), h0.shape[0], hidden, h0.shape[1], projected, tiles};
}

template <class T>
struct Scratch {
  RecurrentScratch scratch;
  InputSums<T> input;
  T *weights, *projection, *unprojected;

  Scratch(const Sizes& s, int64_t in, void* base = nullptr)
      : scratch(base),
        input({kGates, s.hidden, in, 1, in, s.tiles}, s.rows, kGates * s.hidden, scratch),
        weights(scratch.Take<T>(Panels<T>::Size(s.step()))),
        projection(scratch.Take<T>(s.projected ? Panels<T>::Size(s.projection()) : 0)),
        unprojected(scratch.Take<T>(s.projected ? s.batch * s.hidden : 0)) {}
};

Sizes SizesOf(const KernelQuery& q, bool tiles) {
  return SizesOf(q.out(Out::kCells).shape, q.in(In::kH0), q.in(In::kC0), q.has(In::kWhr), tiles);
}
Sizes SizesOf(const KernelContext& k, bool tiles) {
  return SizesOf(k.out_spec(Out::kCells).shape, k.in_spec(In::kH0), k.in_spec(In::kC0),
                 k.has(In::kWhr), tiles);
}

template <class T>
void Forward(KernelContext& k, bool tiles) {
  const Sizes s = SizesOf(k, tiles);
  const int64_t width = k.in_spec(In::kX).shape.dim(-1);
  Scratch<T> scratch(s, width, k.workspace());
  const T* const x = k.in<T>(In::kX);
  T *const y = k.out<T>(Out::kY), *const gates = k.out<T>(Out::kGates);
  T* const cells = k.out<T>(Out::kCells);
  const T *const h0 = k.in<T>(In::kH0), *const c0 = k.in<T>(In::kC0);
  InputSums<T>& input = scratch.input;
  input.SetBias(k.in<T>(In::kBih), k.in<T>(In::kBhh));
  input.Begin(x, k.in<T>(In::kWih), gates);
  Panels<T> panels(s.step(), scratch.weights), projection(s.projection(), scratch.projection);
  PackAll(panels, k.in<T>(In::kWhh));
  if (s.projected) PackAll(projection, k.in<T>(In::kWhr));
  const Steps<T> of_step(s, input, panels, gates);
  const TimeSteps steps = StepsOf(k.in_spec(In::kX).shape, s.batch, k.attrs<RecurrentLayerAttrs>());
  const StepGrid grid = PlanFor<T>(steps, s.step(), s.projected);
  ForEachStepAndPiece(steps, grid, false, [&](const auto& step, const auto& piece) {
    ForEachPart(step, piece, [&](int64_t begin, int64_t end, bool carried) {
      const int64_t from = step.before + begin, at = step.at + begin;
      const Block<T> b = {
          .rows = end - begin,
          .begins = !carried,
          .x = x + at * width,
          .h = carried ? y + from * s.state : h0 + begin * s.state,
          .c = carried ? cells + from * s.hidden : c0 + begin * s.hidden,
          .gates = gates + at * kGates * s.hidden,
          .cells = cells + at * s.hidden,
          .to = s.projected ? scratch.unprojected + begin * s.hidden : y + at * s.state};
      of_step(b, piece);
      if (s.projected) {
        projection.Multiply(0, projection.count(), b.rows, b.to, s.hidden, y + at * s.state,
                            s.state, false);
      }
    });
  });
  FinalStates(steps, s.state, y, k.out<T>(Out::kHn));
  FinalStates(steps, s.hidden, cells, k.out<T>(Out::kCn));
}

struct ForwardPass {
  template <class T>
  static size_t Workspace(const KernelQuery& q, bool tiles) {
    return Scratch<T>(SizesOf(q, tiles), q.in(In::kX).shape.dim(-1)).scratch.used();
  }
  template <class T>
  static void Run(KernelContext& k, bool tiles) {
    Forward<T>(k, tiles);
  }
};

// --- The gradient --------------------------------------------------------------------------------

// Computes the gradients of a row's gates and of its previous cell state from those of its states,
// dh of units [begin, end) and dc. `unprojected`, if given, gets the projection's input.
template <class T>
void GatesGrad(int64_t hidden, int64_t begin, int64_t end, const T* before, const T* gates,
               const T* cell, const T* dh, T* dc, T* dgates, T* unprojected) {
  const T* const in = gates;
  const T* const forget = gates + hidden;
  const T* const candidate = gates + 2 * hidden;
  const T* const out = gates + 3 * hidden;
  FIRN_INDEPENDENT_STEPS
  for (int64_t u = begin; u < end; ++u) {
    const T i = in[u], f = forget[u], g = candidate[u], o = out[u], t = math::Tanh(cell[u]);
    const T d = dc[u] + dh[u] * o * (1 - t * t);
    dgates[u] = d * g * (i * (1 - i));
    dgates[hidden + u] = d * before[u] * (f * (1 - f));
    dgates[2 * hidden + u] = d * i * (1 - g * g);
    dgates[3 * hidden + u] = dh[u] * t * (o * (1 - o));
    dc[u] = d * f;
  }
  for (int64_t u = begin; unprojected != nullptr && u < end; ++u) {
    unprojected[u] = out[u] * math::Tanh(cell[u]);
  }
}

template <class T>
struct GradScratch {
  RecurrentScratch scratch;
  T *weights, *before, *dgates;
  GradProducts<T> products;
  T *projection = nullptr, *dh = nullptr, *unprojected = nullptr, *dunprojected = nullptr;
  void* gemm = nullptr;

  GradScratch(const Sizes& s, int64_t in, const RecurrentLayerAttrs& attrs, void* base = nullptr)
      : scratch(base),
        weights(scratch.Take<T>(Panels<T>::Size(s.back()))),
        before(scratch.Take<T>(GradProducts<T>::BeforeSize(attrs, s.rows, s.state))),
        dgates(scratch.Take<T>(s.rows * Step(s))),
        products(s.rows, kGates * s.hidden, s.state, in, s.tiles, scratch) {
    if (!s.projected) return;
    projection = scratch.Take<T>(Panels<T>::Size(s.projection_back()));
    dh = scratch.Take<T>(s.rows * s.state);
    unprojected = scratch.Take<T>(s.rows * s.hidden);
    dunprojected = scratch.Take<T>(s.batch * s.hidden);
    gemm =
        scratch.Take<char>(static_cast<int64_t>(GemmWorkspace(DTypeOf<T>(), ProjectionProduct(s))));
  }
  static int64_t Step(const Sizes& s) { return GradProducts<T>::RowStep(kGates * s.hidden); }
  // dw_hr = dh^T h before the projection.
  static GemmShape ProjectionProduct(const Sizes& s) {
    return {.m = s.state,
            .n = s.hidden,
            .k = s.rows,
            .a = {1, s.state},
            .b = {s.hidden, 1},
            .c_row = s.hidden};
  }
};

// Does the pass over a block of a step.
template <class T>
class Backward {
 public:
  Backward(KernelContext& k, const Sizes& s, const GradScratch<T>& scratch)
      : s_(s),
        scratch_(scratch),
        projection_(s.projection_back(), scratch.projection),
        c0_(k.in<T>(GradIn::kC0)),
        gates_(k.in<T>(GradIn::kGates)),
        cells_(k.in<T>(GradIn::kCells)),
        dh_(k.out<T>(GradOut::kDh0)),
        dc_(k.out<T>(GradOut::kDc0)) {
    if (s.projected) PackAll(projection_, k.in<T>(GradIn::kWhr));
    BeginGrad(k.in<T>(GradIn::kDcn), s.batch * s.hidden, dc_);
  }

  void operator()(const StepBlock& block) const {
    const int64_t hidden = s_.hidden;
    if (s_.projected) Unproject(block);
    const int64_t first = s_.projected ? 0 : block.first_unit;
    const int64_t last = s_.projected ? hidden : block.last_unit;
    for (int64_t b = block.begin; b < block.end; ++b) {
      const int64_t row = block.step.at + b;
      const T* const before =
          block.carried ? cells_ + (block.step.before + b) * hidden : c0_ + b * hidden;
      const T* const dh = s_.projected ? scratch_.dunprojected + b * hidden : dh_ + b * s_.state;
      GatesGrad(hidden, first, last, before, gates_ + row * kGates * hidden, cells_ + row * hidden,
                dh, dc_ + b * hidden, scratch_.dgates + row * GradScratch<T>::Step(s_),
                s_.projected ? scratch_.unprojected + row * hidden : nullptr);
    }
  }

 private:
  void Unproject(const StepBlock& block) const {
    const int64_t rows = block.end - block.begin;
    const T* const dh = dh_ + block.begin * s_.state;
    std::copy_n(dh, rows * s_.state, scratch_.dh + (block.step.at + block.begin) * s_.state);
    projection_.Multiply(0, projection_.count(), rows, dh, s_.state,
                         scratch_.dunprojected + block.begin * s_.hidden, s_.hidden, false);
  }

  const Sizes s_;
  const GradScratch<T>& scratch_;
  Panels<T> projection_;
  const T *c0_, *gates_, *cells_;
  T *dh_, *dc_;
};

template <class T>
void RunBackward(KernelContext& k, bool tiles) {
  const auto& attrs = k.attrs<RecurrentGradAttrs>();
  const Sizes s = SizesOf(k.in_spec(GradIn::kCells).shape, k.in_spec(GradIn::kH0),
                          k.in_spec(GradIn::kC0), k.has(GradIn::kWhr), tiles);
  const int64_t in = k.in_spec(GradIn::kX).shape.dim(-1);
  const GradScratch<T> scratch(s, in, attrs.layer, k.workspace());
  const TimeSteps steps = StepsOf(k.in_spec(GradIn::kY).shape, s.batch, attrs.layer);
  Panels<T> weights(s.back(), scratch.weights);
  PackAll(weights, k.in<T>(GradIn::kWhh));
  T* const dh = k.out<T>(GradOut::kDh0);
  BeginGrad(k.in<T>(GradIn::kDhn), s.batch * s.state, dh);
  const BackProduct<T> through{weights, scratch.dgates, GradScratch<T>::Step(s),
                               dh,      s.state,        false};
  WalkBack(steps, PlanFor<T>(steps, s.back(), s.projected), through, k.in<T>(GradIn::kDy),
           Backward<T>(k, s, scratch));
  const GradProducts<T>& products = scratch.products;
  products.Recurrent(steps, k.in<T>(GradIn::kY), k.in<T>(GradIn::kH0), s.state, scratch.dgates,
                     scratch.before, k.out<T>(GradOut::kDwhh));
  products.OfInput(k, scratch.dgates);
  if (!s.projected) return;
  Gemm(GradScratch<T>::ProjectionProduct(s), scratch.dh, scratch.unprojected,
       k.out<T>(GradOut::kDwhr), false, scratch.gemm);
}

struct BackwardPass {
  template <class T>
  static size_t Workspace(const KernelQuery& q, bool tiles) {
    const Sizes s = SizesOf(q.in(GradIn::kCells).shape, q.in(GradIn::kH0), q.in(GradIn::kC0),
                            q.has(GradIn::kWhr), tiles);
    const int64_t in = q.in(GradIn::kX).shape.dim(-1);
    return GradScratch<T>(s, in, q.attrs<RecurrentGradAttrs>().layer).scratch.used();
  }
  template <class T>
  static void Run(KernelContext& k, bool tiles) {
    RunBackward<T>(k, tiles);
  }
};

}  // namespace

std::vector<Kernel> LstmKernels() { return KernelsOf<ForwardPass>(); }
std::vector<Kernel> LstmGradKernels() { return KernelsOf<BackwardPass>(); }

}  // namespace firn::cpu
