// A layer is a causal convolution of two samples that lie `dilation` apart, tanh of one half of it
// times sigmoid of the other; one product of that is added to the layer's input, another one to the
// sum that all layers contribute to the result.
#include "firn/nn/zoo/wavenet.h"

#include <map>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/shape/pad.h"

namespace firn::zoo {
namespace {

nn::Conv1dOptions ConvOf(int64_t in, int64_t out, int64_t kernel = 1, int64_t dilation = 1) {
  return {.in = in, .out = out, .kernel = kernel, .dilation = dilation};
}

const WavenetOptions& Checked(const WavenetOptions& o) {
  if (o.cycles < 1 || o.layers < 1 || o.layers > 20) {
    RaiseStatus(
        InvalidArgument("expected cycles of 1 to 20 layers, got ", o.cycles, " of ", o.layers),
        "zoo::Wavenet");
  }
  return o;
}

}  // namespace

class WavenetUnit final : public nn::Layer {
 public:
  WavenetUnit(int64_t channels, int64_t skip, int64_t dilation)
      : dilation_(dilation),
        filter_(Add<nn::Conv1d>("filter", ConvOf(channels, channels, 2, dilation))),
        gate_(Add<nn::Conv1d>("gate", ConvOf(channels, channels, 2, dilation))),
        residual_(Add<nn::Conv1d>("residual", ConvOf(channels, channels))),
        skip_(Add<nn::Conv1d>("skip", ConvOf(channels, skip))) {}

  // The layer's contribution to the result, beside the next layer's input.
  struct Both {
    Tensor y, skipped;
  };
  Both Split(const Tensor& x) {
    const nn::CallScope scope(*this);
    const Tensor padded = Pad(x, {dilation_, 0});
    const Tensor gated = Mul(Tanh(filter_(padded)), Sigmoid(gate_(padded)));
    return {Add(x, residual_(gated)), skip_(gated)};
  }

 protected:
  Tensor Forward(const Tensor& x) override { return Split(x).y; }

 private:
  const int64_t dilation_;
  nn::Conv1d &filter_, &gate_, &residual_, &skip_;
};

Wavenet::Wavenet(const Options& o)
    : LayerWithOptions(Checked(o)),
      embedding_(Add<nn::Embedding>("embedding", {.count = o.levels, .size = o.residual})),
      causal_(Add<nn::Conv1d>("causal", ConvOf(o.residual, o.residual, 2))),
      units_(Add<nn::ModuleList<WavenetUnit>>("units")),
      head1_(Add<nn::Conv1d>("head1", ConvOf(o.skip, o.skip))),
      head2_(Add<nn::Conv1d>("head2", ConvOf(o.skip, o.levels))) {
  for (int64_t i = 0; i < o.cycles * o.layers; ++i) {
    units_.Append(o.residual, o.skip, int64_t{1} << (i % o.layers));
  }
}

Tensor Wavenet::Forward(const Tensor& ids) {
  Tensor x = causal_(Pad(embedding_(ids).Transpose(1, 2), {1, 0}));
  Tensor sum;
  for (WavenetUnit& unit : units_) {
    const WavenetUnit::Both both = unit.Split(x);
    x = both.y;
    sum = sum.defined() ? Add(sum, both.skipped) : both.skipped;
  }
  return head2_(Relu(head1_(Relu(sum))));
}

WavenetOptions WavenetOf(const std::string& name, const Options& options) {
  const WavenetOptions of =
      FindPublished(std::map<std::string, WavenetOptions>{{"wavenet", {}}}, name);
  ExpectNoClasses(options, name);
  return of;
}

std::vector<Network> WavenetNetworks() {
  return {{.name = "wavenet",
           .paper = "van den Oord et al., \"WaveNet: a generative model for raw audio\", 2016",
           .origin = "Firn",
           .inputs = {{"ids", {3071}, 256}},
           .parameters = 1'275'584,
           .make = MakerOf<Wavenet>(WavenetOf, "wavenet")}};
}

}  // namespace firn::zoo
