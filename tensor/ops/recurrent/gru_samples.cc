#include <cmath>

#include "firn/tensor/ops/recurrent/gru.h"
#include "firn/tensor/ops/recurrent/recurrent_samples.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// y, h_n and r, z, n and w_hn h + b_hn of x, h0, w_ih, w_hh, b_ih and b_hh.
std::vector<RefTensor> GruLayerReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &x = in[0], &h0 = in[1], &w_ih = in[2], &w_hh = in[3];
  const int64_t batch = h0.shape[0], hidden = h0.shape[1], width = x.shape.dim(-1);
  Dims dims = x.shape.dims();
  dims[dims.rank - 1] = hidden;
  RefTensor y(Shape(dims.span())), h_n = h0;
  const int64_t rows = y.size() / hidden;
  RefTensor gates(Shape({rows, 4 * hidden}));
  const auto sequences = RowsOfSequences(x.shape, batch, attrs.get<RecurrentLayerAttrs>());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<double> h(h_n.values.begin() + b * hidden, h_n.values.begin() + (b + 1) * hidden);
    for (const int64_t row : sequences[static_cast<size_t>(b)]) {
      const std::vector<double> old = h;
      const auto of_x = [&](int64_t g) {
        return RowTimes(w_ih, g, x.values.data() + row * width) + BiasAt(in[4], g);
      };
      const auto of_h = [&](int64_t g) { return RowTimes(w_hh, g, old.data()) + BiasAt(in[5], g); };
      for (int64_t u = 0; u < hidden; ++u) {
        const double r = LogisticOf(of_x(u) + of_h(u));
        const double z = LogisticOf(of_x(hidden + u) + of_h(hidden + u));
        const double inner = of_h(2 * hidden + u), n = std::tanh(of_x(2 * hidden + u) + r * inner);
        const double all[] = {r, z, n, inner};
        for (int64_t g = 0; g < 4; ++g) gates[(row * 4 + g) * hidden + u] = all[g];
        h[static_cast<size_t>(u)] = (1 - z) * n + z * old[static_cast<size_t>(u)];
        y[row * hidden + u] = h[static_cast<size_t>(u)];
      }
    }
    std::copy(h.begin(), h.end(), h_n.values.begin() + b * hidden);
  }
  return {y, h_n, gates};
}

// dx, dh0, dw_ih, dw_hh, db_ih and db_hh of x, h0, w_ih, w_hh, y, dy, dh_n and gates.
std::vector<RefTensor> GruGradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &y = in[4], &dy = in[5], &gates = in[7];
  const auto& a = attrs.get<RecurrentGradAttrs>();
  LayerGradients d(in);
  const int64_t batch = d.h0.shape[0], hidden = d.h0.shape[1];
  if (in[6].defined()) d.dh0 = in[6];
  RefTensor db_hh(d.db.shape);
  ForEachRowBackwards(y.shape, batch, a.layer, [&](int64_t b, int64_t row, int64_t before) {
    double* const dh = d.dh0.values.data() + b * hidden;
    const double* const h =
        before < 0 ? d.h0.values.data() + b * hidden : y.values.data() + before * hidden;
    std::vector<double> dgx(static_cast<size_t>(3 * hidden)), dgh(dgx);
    for (int64_t u = 0; u < hidden; ++u) {
      const auto gate = [&](int64_t g) { return gates[(row * 4 + g) * hidden + u]; };
      const double r = gate(0), z = gate(1), n = gate(2);
      if (dy.defined()) dh[u] += dy[row * hidden + u];
      const double dn = dh[u] * (1 - z) * (1 - n * n);
      const double x_part[] = {dn * gate(3) * r * (1 - r), dh[u] * (h[u] - n) * z * (1 - z), dn};
      for (int64_t g = 0; g < 3; ++g) {
        const double h_part = g == 2 ? dn * r : x_part[g];
        dgx[static_cast<size_t>(g * hidden + u)] = x_part[g];
        dgh[static_cast<size_t>(g * hidden + u)] = h_part;
        db_hh[g * hidden + u] += h_part;
      }
      dh[u] *= z;
    }
    d.Add(row, h, dgx.data(), dgh.data(), dh);
  });
  std::vector<RefTensor> all = d.Results(a);
  all.push_back(db_hh);
  return all;
}

namespace {

std::vector<Tensor> AsTheyAre(std::vector<Tensor> in) { return in; }

std::vector<Tensor> WithGates(std::vector<Tensor> in) {
  const int64_t hidden = in[3].size(1);
  in.push_back(Uniform({in[4].num_elements() / hidden, 4 * hidden}, 0.1, 0.9, 33));
  return in;
}

FIRN_REGISTER_SAMPLES(gru_layer) {
  s.WithoutVectors("they are among those of gru");
  s.Function([](In in, const RecurrentLayerAttrs& a) {
    const std::vector<RecurrentWeights> one = {{in[2], in[3], in[4], in[5]}};
    const Tensor h0 = Unsqueeze(in[1], 0);
    if (a.batch_sizes.empty()) {
      const RecurrentResult r = Gru(in[0], h0, one);
      return std::vector<Tensor>{r.y, Squeeze(r.h_n, 0)};
    }
    const PackedRecurrentResult r = Gru(PackedSequence{in[0], a.batch_sizes}, h0, one);
    return std::vector<Tensor>{r.y.data, Squeeze(r.h_n, 0)};
  });
  s.Reference(GruLayerReference);
  AddLayerCalls(s, 3, AsTheyAre);
  s.AddLarge("64x32x128 to 256", LayerSample{3, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32),
             RecurrentLayerAttrs{}, 2.0 * 64 * 32 * 768 * (128 + 256), 0);
  AddLayerErrors(s, 3, AsTheyAre);
}

FIRN_REGISTER_SAMPLES(gru_layer_grad) {
  s.Internal("the gradient of gru_layer");
  s.Reference(GruGradReference);
  AddGradCalls(s, 3, WithGates);
  std::vector<Tensor> large =
      LayerSample{3, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32, false);
  large[4] = Uniform({64, 32, 256}, -0.9, 0.9, 21);
  large[5] = Normal({64, 32, 256}, 22);
  large.push_back(Tensor());
  s.AddLarge("64x32x128 to 256", WithGates(std::move(large)), RecurrentGradAttrs{},
             4.0 * 64 * 32 * 768 * (128 + 256), 0);
  AddGradErrors(s, 3, WithGates);
}

}  // namespace
}  // namespace firn::testing
