#include <cmath>

#include "firn/tensor/ops/recurrent/recurrent_samples.h"
#include "firn/tensor/ops/recurrent/rnn.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

double Applied(bool relu, double x) { return relu ? std::max(x, 0.0) : std::tanh(x); }

// y and h_n of x, h0, w_ih, w_hh, b_ih and b_hh.
template <bool kRelu>
std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &x = in[0], &h0 = in[1], &w_ih = in[2], &w_hh = in[3];
  const int64_t batch = h0.shape[0], hidden = h0.shape[1], width = x.shape.dim(-1);
  Dims dims = x.shape.dims();
  dims[dims.rank - 1] = hidden;
  RefTensor y(Shape(dims.span())), h_n = h0;
  const auto sequences = RowsOfSequences(x.shape, batch, attrs.get<RecurrentLayerAttrs>());
  for (int64_t b = 0; b < batch; ++b) {
    double* const h = h_n.values.data() + b * hidden;
    for (const int64_t row : sequences[static_cast<size_t>(b)]) {
      for (int64_t u = 0; u < hidden; ++u) {
        y[row * hidden + u] =
            Applied(kRelu, RowTimes(w_ih, u, x.values.data() + row * width) + RowTimes(w_hh, u, h) +
                               BiasAt(in[4], u) + BiasAt(in[5], u));
      }
      std::copy_n(y.values.data() + row * hidden, hidden, h);
    }
  }
  return {y, h_n};
}

// dx, dh0, dw_ih, dw_hh and db of x, h0, w_ih, w_hh, y, dy and dh_n.
template <bool kRelu>
std::vector<RefTensor> Gradients(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &y = in[4], &dy = in[5];
  const auto& a = attrs.get<RecurrentGradAttrs>();
  LayerGradients d(in);
  const int64_t batch = d.h0.shape[0], hidden = d.h0.shape[1];
  if (in[6].defined()) d.dh0 = in[6];
  ForEachRowBackwards(y.shape, batch, a.layer, [&](int64_t b, int64_t row, int64_t before) {
    double* const dh = d.dh0.values.data() + b * hidden;
    std::vector<double> dsum(static_cast<size_t>(hidden));
    for (int64_t u = 0; u < hidden; ++u) {
      const double of_y = y[row * hidden + u];
      if (dy.defined()) dh[u] += dy[row * hidden + u];
      dsum[static_cast<size_t>(u)] = dh[u] * (kRelu ? (of_y > 0 ? 1 : 0) : 1 - of_y * of_y);
      dh[u] = 0;
    }
    const double* const h =
        before < 0 ? d.h0.values.data() + b * hidden : y.values.data() + before * hidden;
    d.Add(row, h, dsum.data(), dsum.data(), dh);
  });
  return d.Results(a);
}

std::vector<Tensor> AsTheyAre(std::vector<Tensor> in) { return in; }

template <bool kRelu>
void AddLayer(Samples& s) {
  s.WithoutVectors("they are among those of rnn");
  s.Function([](In in, const RecurrentLayerAttrs& a) {
    constexpr auto kNonlinearity = kRelu ? RnnNonlinearity::kRelu : RnnNonlinearity::kTanh;
    const std::vector<RecurrentWeights> one = {{in[2], in[3], in[4], in[5]}};
    const Tensor h0 = Unsqueeze(in[1], 0);
    if (a.batch_sizes.empty()) {
      const RecurrentResult r = Rnn(in[0], h0, one, {}, kNonlinearity);
      return std::vector<Tensor>{r.y, Squeeze(r.h_n, 0)};
    }
    const PackedRecurrentResult r =
        Rnn(PackedSequence{in[0], a.batch_sizes}, h0, one, {}, kNonlinearity);
    return std::vector<Tensor>{r.y.data, Squeeze(r.h_n, 0)};
  });
  s.Reference(Reference<kRelu>);
  AddLayerCalls(s, 1, AsTheyAre);
  s.AddLarge("64x32x128 to 256", LayerSample{1, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32),
             RecurrentLayerAttrs{}, 2.0 * 64 * 32 * 256 * (128 + 256), 0);
  AddLayerErrors(s, 1, AsTheyAre);
}

template <bool kRelu>
void AddGrad(Samples& s) {
  s.Internal(kRelu ? "the gradient of rnn_relu_layer" : "the gradient of rnn_tanh_layer");
  s.Reference(Gradients<kRelu>);
  AddGradCalls(s, 1, AsTheyAre);
  std::vector<Tensor> large =
      LayerSample{1, 256, 128, 256}.Inputs(Normal({64, 32, 128}), 32, false);
  large[4] = Uniform({64, 32, 256}, -0.9, 0.9, 21);
  large[5] = Normal({64, 32, 256}, 22);
  large.push_back(Tensor());
  s.AddLarge("64x32x128 to 256", std::move(large), RecurrentGradAttrs{},
             4.0 * 64 * 32 * 256 * (128 + 256), 0);
  AddGradErrors(s, 1, AsTheyAre);
}

FIRN_REGISTER_SAMPLES(rnn_tanh_layer) { AddLayer<false>(s); }
FIRN_REGISTER_SAMPLES(rnn_relu_layer) { AddLayer<true>(s); }
FIRN_REGISTER_SAMPLES(rnn_tanh_layer_grad) { AddGrad<false>(s); }
FIRN_REGISTER_SAMPLES(rnn_relu_layer_grad) { AddGrad<true>(s); }

}  // namespace

std::vector<RefTensor> RnnLayerReference(absl::Span<const RefTensor> in, AttrsRef attrs,
                                         bool relu) {
  return relu ? Reference<true>(in, attrs) : Reference<false>(in, attrs);
}
std::vector<RefTensor> RnnGradReference(absl::Span<const RefTensor> in, AttrsRef attrs, bool relu) {
  return relu ? Gradients<true>(in, attrs) : Gradients<false>(in, attrs);
}

}  // namespace firn::testing
