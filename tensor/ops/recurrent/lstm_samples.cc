#include <cmath>

#include "firn/tensor/ops/recurrent/lstm.h"
#include "firn/tensor/ops/recurrent/recurrent_samples.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// y, h_n, c_n, gates and cells of x, h0, w_ih, w_hh, b_ih, b_hh, c0, w_hr.
std::vector<RefTensor> LstmLayerReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
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
        const double sum = RowTimes(w_ih, g, x.values.data() + row * width) + RowTimes(w_hh, g, h) +
                           BiasAt(in[4], g) + BiasAt(in[5], g);
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

// dx, dh0, dw_ih, dw_hh, db, dc0 and dw_hr of x, h0, w_ih, w_hh, y, dy, dh_n, dc_n, c0, gates,
// cells and w_hr.
std::vector<RefTensor> LstmGradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &y = in[4], &dy = in[5], &c0 = in[8], &gates = in[9], &cells = in[10];
  const bool projected = in.size() > 11 && in[11].defined();
  const auto& a = attrs.get<RecurrentGradAttrs>();
  LayerGradients d(in);
  const int64_t batch = d.h0.shape[0], state = d.h0.shape[1], hidden = c0.shape[1];
  if (in[6].defined()) d.dh0 = in[6];
  RefTensor dc0 = in[7].defined() ? in[7] : RefTensor(c0.shape);
  RefTensor dw_hr(Shape({projected ? state : 0, hidden}));
  ForEachRowBackwards(y.shape, batch, a.layer, [&](int64_t b, int64_t row, int64_t before) {
    double* const dh = d.dh0.values.data() + b * state;
    std::vector<double> dm(static_cast<size_t>(hidden)), dgates(static_cast<size_t>(4 * hidden));
    for (int64_t p = 0; p < state; ++p) {
      if (dy.defined()) dh[p] += dy[row * state + p];
      for (int64_t u = 0; u < hidden; ++u) {
        const double m =
            gates[row * 4 * hidden + 3 * hidden + u] * std::tanh(cells[row * hidden + u]);
        if (projected) dw_hr[p * hidden + u] += dh[p] * m;
        if (projected || p == u) {
          dm[static_cast<size_t>(u)] += dh[p] * (projected ? in[11][p * hidden + u] : 1);
        }
      }
    }
    for (int64_t u = 0; u < hidden; ++u) {
      const auto gate = [&](int64_t g) { return gates[(row * 4 + g) * hidden + u]; };
      const double t = std::tanh(cells[row * hidden + u]), of_m = dm[static_cast<size_t>(u)];
      double& dc = dc0[b * hidden + u];
      dc += of_m * gate(3) * (1 - t * t);
      const double old = before < 0 ? c0[b * hidden + u] : cells[before * hidden + u];
      const double by_gate[] = {
          dc * gate(2) * gate(0) * (1 - gate(0)), dc * old * gate(1) * (1 - gate(1)),
          dc * gate(0) * (1 - gate(2) * gate(2)), of_m * t * gate(3) * (1 - gate(3))};
      for (int64_t g = 0; g < 4; ++g) dgates[static_cast<size_t>(g * hidden + u)] = by_gate[g];
      dc *= gate(1);
    }
    std::fill(dh, dh + state, 0.0);
    const double* const h =
        before < 0 ? d.h0.values.data() + b * state : y.values.data() + before * state;
    d.Add(row, h, dgates.data(), dgates.data(), dh);
  });
  std::vector<RefTensor> all = d.Results(a);
  all.push_back(dc0);
  all.push_back(dw_hr);
  return all;
}

namespace {

std::vector<Tensor> WithCells(std::vector<Tensor> in) {
  in.push_back(Normal({in[1].size(0), in[3].size(0) / 4}, 16));
  in.push_back(Tensor());
  return in;
}

// A layer that projects `hidden` units to `state`.
std::vector<Tensor> Projected(const Tensor& x, int64_t batch, int64_t hidden, int64_t state) {
  std::vector<Tensor> in = LayerSample{4, hidden, x.size(-1), state}.Inputs(x, batch);
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
  s.Reference(LstmLayerReference);
  const auto add = [&](std::string name, std::vector<Tensor> in, RecurrentLayerAttrs a) {
    // The function gives both directions or the first.
    s.Add(std::move(name), std::move(in), a).check_function = !a.reverse;
  };
  AddLayerCalls(s, 4, WithCells);
  add("projected", Projected(Normal({3, 2, 4}, 10), 2, 5, 3), {});
  add("projected, packed, from the end", Projected(Normal({6, 4}, 10), 3, 4, 2), {true, {3, 2, 1}});
  s.AddLarge("64x32x128 to 256",
             WithCells(LayerSample{4, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32)),
             RecurrentLayerAttrs{}, 2.0 * 64 * 32 * 1024 * (128 + 256), 0);
  const auto error = [&](std::string name, std::vector<Tensor> in, RecurrentLayerAttrs a,
                         std::string message) {
    s.AddError(std::move(name), std::move(in), a, std::move(message));
  };
  AddLayerErrors(s, 4, WithCells);
  std::vector<Tensor> cells = WithCells(LayerSample{4, 3, 5, 3}.Inputs(Normal({4, 2, 5}), 2));
  cells[6] = Normal({2, 4});
  error("cells", cells, {}, "c0 must be [2, 3], got [2, 4]");
  std::vector<Tensor> projection = Projected(Normal({3, 2, 4}, 10), 2, 5, 3);
  projection[7] = Normal({5, 3});
  error("projection", projection, {}, "w_hr must be [3, 5], got [5, 3]");
}

// dc_n, c0, gates, cells and w_hr behind what all gradients have.
std::vector<Tensor> WithGates(std::vector<Tensor> in) {
  const int64_t batch = in[1].size(0), hidden = in[3].size(0) / 4;
  const int64_t rows = in[4].num_elements() / in[4].size(-1);
  for (Tensor t :
       {in[6].defined() ? Normal({batch, hidden}, 31) : Tensor(), Normal({batch, hidden}, 32),
        Uniform({rows, 4 * hidden}, 0.1, 0.9, 33), Normal({rows, hidden}, 34), Tensor()}) {
    in.push_back(std::move(t));
  }
  return in;
}

FIRN_REGISTER_SAMPLES(lstm_layer_grad) {
  s.Internal("the gradient of lstm_layer");
  s.Reference(LstmGradReference);
  AddGradCalls(s, 4, WithGates);
  const auto projected = [](int64_t rows) {
    std::vector<Tensor> in = LayerSample{4, 4, 3, 2}.Inputs(Normal({rows / 2, 2, 3}, 10), 2);
    in[4] = Normal({rows / 2, 2, 2}, 21);
    in[5] = Normal({rows / 2, 2, 2}, 22);
    in.push_back(Normal({2, 2}, 23));
    in = WithGates(std::move(in));
    in.back() = Normal({2, 4}, 35);
    return in;
  };
  s.Add("projected", projected(6), RecurrentGradAttrs{});
  std::vector<Tensor> large =
      LayerSample{4, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32, false);
  large[4] = Uniform({64, 32, 256}, -0.9, 0.9, 21);
  large[5] = Normal({64, 32, 256}, 22);
  large.push_back(Tensor());
  s.AddLarge("64x32x128 to 256", WithGates(std::move(large)), RecurrentGradAttrs{},
             4.0 * 64 * 32 * 1024 * (128 + 256), 0);
  std::vector<Tensor> cells = projected(6);
  cells[10] = Normal({6, 3});
  s.AddError("cells", cells, RecurrentGradAttrs{}, "cells must be [6, 4], got [6, 3]");
  AddGradErrors(s, 4, WithGates);
}

}  // namespace
}  // namespace firn::testing
