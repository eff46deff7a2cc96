#include "firn/tensor/ops/recurrent/lstm.h"

#include <cmath>

#include "firn/tensor/golden_samples.h"
#include "firn/tensor/ops/recurrent/recurrent_samples.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/samples.h"

namespace firn::testing {
namespace {

using Layer = std::vector<RefTensor>;

// y, h_n, c_n, gates and cells of x, h0, w_ih, w_hh, b_ih, b_hh, c0, w_hr.
Layer Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &x = in[0], &h0 = in[1], &w_ih = in[2], &w_hh = in[3], &c0 = in[6];
  const bool projected = in.size() > 7 && in[7].defined();
  const int64_t batch = h0.shape[0], state = h0.shape[1], hidden = c0.shape[1];
  Dims dims = x.shape.dims();
  dims[dims.rank - 1] = state;
  RefTensor y(Shape(dims.span())), h_n = h0, c_n = c0;
  const int64_t rows = y.size() / state, width = x.shape.dim(-1);
  RefTensor gates(Shape({rows, 4 * hidden})), cells(Shape({rows, hidden}));
  const auto& a = attrs.get<RecurrentLayerAttrs>();
  const auto sequences = RowsOfSequences(x.shape, batch, a);
  for (int64_t b = 0; b < batch; ++b) {
    double* const h = h_n.values.data() + b * state;
    double* const c = c_n.values.data() + b * hidden;
    for (const int64_t row : sequences[static_cast<size_t>(b)]) {
      for (int64_t g = 0; g < 4 * hidden; ++g) {
        const double sum = RowTimes(w_ih, g, x.values.data() + row * width) +
                           RowTimes(w_hh, g, h) + BiasAt(in[4], g) + BiasAt(in[5], g);
        gates[row * 4 * hidden + g] = g / hidden == 2 ? std::tanh(sum) : LogisticOf(sum);
      }
      std::vector<double> m(static_cast<size_t>(hidden));
      for (int64_t u = 0; u < hidden; ++u) {
        const double* const gate = gates.values.data() + row * 4 * hidden + u;
        c[u] = gate[hidden] * c[u] + gate[0] * gate[2 * hidden];
        cells[row * hidden + u] = c[u];
        m[static_cast<size_t>(u)] = gate[3 * hidden] * std::tanh(c[u]);
      }
      for (int64_t p = 0; p < state; ++p) {
        h[p] = projected ? RowTimes(in[7], p, m.data()) : m[static_cast<size_t>(p)];
        y[row * state + p] = h[p];
      }
    }
  }
  return {y, h_n, c_n, gates, cells};
}

std::vector<Tensor> WithCells(std::vector<Tensor> in) {
  in.push_back(Normal({in[1].size(0), in[3].size(0) / 4}, 16));
  in.push_back(Tensor());
  return in;
}

// A layer that projects `hidden` units to `state`.
std::vector<Tensor> Projected(const Tensor& x, int64_t batch, int64_t hidden, int64_t state) {
  std::vector<Tensor> in =
      LayerSample{4, hidden, x.size(-1), state}.Inputs(x, batch);
  in.push_back(Normal({batch, hidden}, 16));
  in.push_back(Uniform({state, hidden}, -1, 1, 17));
  return in;
}

FIRN_REGISTER_SAMPLES(lstm_layer) {
  s.WithoutVectors("they are among those of lstm");
  s.Function([](In in, const RecurrentLayerAttrs& a) {
    const std::vector<RecurrentWeights> one = {{in[2], in[3], in[4], in[5], in[7]}};
    const LstmState initial = {Unsqueeze(in[1], 0), Unsqueeze(in[6], 0)};
    if (a.batch_sizes.empty()) {
      const LstmResult r = Lstm(in[0], initial, one);
      return std::vector<Tensor>{r.y, Squeeze(r.state.h, 0), Squeeze(r.state.c, 0)};
    }
    const PackedLstmResult r = Lstm(PackedSequence{in[0], a.batch_sizes}, initial, one);
    return std::vector<Tensor>{r.y.data, Squeeze(r.state.h, 0), Squeeze(r.state.c, 0)};
  });
  s.Reference(Reference);
  const auto add = [&](std::string name, std::vector<Tensor> in, RecurrentLayerAttrs a) {
    // The function gives both directions or the first.
    s.Add(std::move(name), std::move(in), a).check_function = !a.reverse;
  };
  AddLayerCalls(s, 4, WithCells, add);
  add("projected", Projected(Normal({3, 2, 4}, 10), 2, 5, 3), {});
  add("projected, packed, from the end", Projected(Normal({6, 4}, 10), 3, 4, 2),
      {true, {3, 2, 1}});
  s.AddLarge("64x32x128 to 256",
             WithCells(LayerSample{4, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32)),
             RecurrentLayerAttrs{}, 2.0 * 64 * 32 * 1024 * (128 + 256), 0);
  const auto error = [&](std::string name, std::vector<Tensor> in, RecurrentLayerAttrs a,
                         std::string message) {
    s.AddError(std::move(name), std::move(in), a, std::move(message));
  };
  AddLayerErrors(s, 4, WithCells, error);
  std::vector<Tensor> cells = WithCells(LayerSample{4, 3, 5, 3}.Inputs(Normal({4, 2, 5}), 2));
  cells[6] = Normal({2, 4});
  error("cells", cells, {}, "c0 must be [2, 3], got [2, 4]");
  std::vector<Tensor> projection = Projected(Normal({3, 2, 4}, 10), 2, 5, 3);
  projection[7] = Normal({5, 3});
  error("projection", projection, {}, "w_hr must be [3, 5], got [5, 3]");
}

}  // namespace
}  // namespace firn::testing
