// Layers: affine functions, convolutions, pooling, embeddings, recurrences.
//
// A weight of an affine function is [in, out...] in NNabla, [out, in] in Firn; weights of
// convolutions are equal in both, except with channel_last, where NNabla's are [out, kernel..., in
// / group].
#include <limits>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

Tensor Input(In in, size_t i) { return i < in.size() ? in[i] : Tensor(); }

Tensor Affine(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t base_axis) {
  const Tensor w = RowsOf(weight, 1);
  const Tensor y = Linear(RowsOf(x, base_axis), w.T(), bias.defined() ? Flatten(bias) : bias);
  return Reshaped(y, Joined(SizesOf(x, 0, base_axis), SizesOf(weight, 1, weight.rank())));
}

const NnablaOps kAffine("Affine", 2, 3, [](const Args& a, In in) -> TensorList {
  return {Affine(in[0], in[1], Input(in, 2), a.Int("base_axis"))};
});

// Numbers for each dimension of an image.
Sizes SizesAs(const Args& a, std::string_view name) {
  const std::vector<int64_t>& sizes = a.Ints(name);
  if (sizes.empty() || sizes.size() > Sizes::kMost) {
    RefuseNnabla(absl::StrCat("the length of ", std::string(name)), "from 1 to 3",
                 absl::StrCat(sizes.size()));
  }
  return Sizes(absl::Span<const int64_t>(sizes));
}

void CheckImages(const Tensor& images, const Sizes& sizes) {
  if (images.rank() != sizes.count() + 2) {
    RefuseNnabla("the number of dimensions from base_axis on", absl::StrCat(sizes.count() + 1),
                 absl::StrCat(images.rank() - 1));
  }
}

Tensor Convolve(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvOptions& options) {
  if (x.rank() == 3) return Conv1d(x, w, bias, options);
  return x.rank() == 4 ? Conv2d(x, w, bias, options) : Conv3d(x, w, bias, options);
}

Tensor ConvolveBack(const Tensor& x, const Tensor& w, const Tensor& bias,
                    const ConvTransposeOptions& options) {
  if (x.rank() == 3) return ConvTranspose1d(x, w, bias, options);
  return x.rank() == 4 ? ConvTranspose2d(x, w, bias, options)
                       : ConvTranspose3d(x, w, bias, options);
}

Tensor FlatOrNone(const Tensor& x) { return x.defined() ? Flatten(x) : x; }

Tensor Convolution(const Args& a, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   int64_t groups, bool last) {
  const int64_t base = a.Int("base_axis");
  const Tensor images = ImagesOf(x, base, last);
  const ConvOptions options = {.stride = SizesAs(a, "stride"),
                               .padding = SizesAs(a, "pad"),
                               .dilation = SizesAs(a, "dilation"),
                               .groups = groups};
  CheckImages(images, options.stride);
  const Tensor w = last ? Movedim(weight, -1, 1) : weight;
  return FromImages(Convolve(images, w, FlatOrNone(bias), options), x, base, last);
}

const NnablaOps kConvolution("Convolution", 2, 3, [](const Args& a, In in) -> TensorList {
  return {Convolution(a, in[0], in[1], Input(in, 2), a.Int("group"), a.Flag("channel_last"))};
});

const NnablaOps kDepthwise("DepthwiseConvolution", 2, 3, [](const Args& a, In in) -> TensorList {
  const int64_t channels = in[0].size(AxisOf(in[0], a.Int("base_axis")));
  return {Convolution(a, in[0], Unsqueeze(in[1], 1), Input(in, 2), channels, false)};
});

Tensor Deconvolution(const Args& a, In in, const Tensor& weight, int64_t groups, bool last,
                     const Sizes& more) {
  const int64_t base = a.Int("base_axis");
  const Tensor images = ImagesOf(in[0], base, last);
  const ConvTransposeOptions options = {.stride = SizesAs(a, "stride"),
                                        .padding = SizesAs(a, "pad"),
                                        .output_padding = more,
                                        .groups = groups,
                                        .dilation = SizesAs(a, "dilation")};
  CheckImages(images, options.stride);
  const Tensor w = last ? Movedim(weight, -1, 1) : weight;
  return FromImages(ConvolveBack(images, w, FlatOrNone(Input(in, 2)), options), in[0], base, last);
}

const NnablaOps kDeconvolution("Deconvolution", 2, 3, [](const Args& a, In in) -> TensorList {
  const Sizes more = a.Ints("output_padding").empty() ? Sizes(0) : SizesAs(a, "output_padding");
  return {Deconvolution(a, in, in[1], a.Int("group"), a.Flag("channel_last"), more)};
});

const NnablaOps kDepthwiseBack(
    "DepthwiseDeconvolution", 2, 3, [](const Args& a, In in) -> TensorList {
      const int64_t channels = in[0].size(AxisOf(in[0], a.Int("base_axis")));
      const int64_t divisor = a.Int("divisor");
      if (divisor < 1 || channels % divisor != 0) {
        RefuseNnabla("divisor", absl::StrCat("a divisor of ", channels), absl::StrCat(divisor));
      }
      return {Deconvolution(a, in, Unsqueeze(in[1], 1), channels / divisor, false, 0)};
    });

// The mask and, behind it, the bias are optional: with four inputs the rank of the fourth tells
// which it is.
const NnablaOps kDeformable("DeformableConvolution", 3, 5, [](const Args& a, In in) -> TensorList {
  const bool masked = in.size() > 3 && in[3].rank() > 1;
  const Tensor mask = masked ? in[3] : Tensor();
  const Tensor bias = Input(in, masked ? 4 : 3);
  if (a.Flag("channel_last") || a.Int("base_axis") != 1) {
    RefuseNnabla("DeformableConvolution", "of channels first and base_axis 1", "of others");
  }
  return {DeformConv2d(in[0], in[2], in[1], FlatOrNone(bias), mask,
                       {.stride = SizesAs(a, "stride"),
                        .padding = SizesAs(a, "pad"),
                        .dilation = SizesAs(a, "dilation"),
                        .groups = a.Int("group")})};
});

const NnablaOps kSeparable("AdaptiveSeparableConvolution", 3, 3,
                           [](const Args&, In in) -> TensorList {
                             return {AdaptiveSeparableConv2d(in[0], in[1], in[2])};
                           });

const NnablaOps kEmbed("Embed", 2, 2, [](const Args&, In in) -> TensorList {
  return {Embedding(IntegersOf(in[0]), in[1])};
});

// --- Pooling ------------------------------------------------------------------------------------

enum class Pool { kMax, kAverage, kSum };

// Windows go over the last dimensions, of which there are as many as `kernel` has numbers. Without
// ignore_border every window counts that begins within x or the padding before it: the far ends are
// padded by the kernel less one.
Tensor Pooling(const Args& a, const Tensor& x, Pool pool) {
  const Sizes kernel = SizesAs(a, "kernel"), stride = SizesAs(a, "stride"), pad = SizesAs(a, "pad");
  const bool last = a.Flag("channel_last"), border = !a.Flag("ignore_border");
  const int64_t base = x.rank() - kernel.count() - 1;
  if (kernel.count() < 2 || stride.count() != kernel.count() || pad.count() != kernel.count()) {
    RefuseNnabla("the lengths of kernel, stride and pad", "equal, 2 or 3",
                 absl::StrCat(kernel.count(), ", ", stride.count(), " and ", pad.count()));
  }
  if (base < 0) {
    RefuseNnabla("the number of dimensions", absl::StrCat("at least ", kernel.count() + 1),
                 absl::StrCat(x.rank()));
  }
  for (int i = 0; i < kernel.count(); ++i) {
    if (pad[i] < 0 || pad[i] >= kernel[i]) {
      RefuseNnabla("pad", "at least 0 and less than kernel", pad.ToString());
    }
  }
  const bool max = pool == Pool::kMax;
  const auto padded = [&](const Tensor& images, double value) {
    std::vector<int64_t> ends;
    for (int i = kernel.count() - 1; i >= 0; --i) {
      ends.push_back(pad[i]);
      ends.push_back(border ? kernel[i] - 1 : pad[i]);
    }
    return Pad(images, ends, {.value = value});
  };
  const Tensor images = ImagesOf(x, base, last);
  const bool three = kernel.count() == 3;
  const auto sums = [&](const Tensor& of) {
    const AvgPoolOptions options = {.kernel = kernel, .stride = stride, .divisor_override = 1};
    return three ? AvgPool3d(of, options) : AvgPool2d(of, options);
  };
  Tensor y;
  if (max) {
    const Tensor all = padded(images, -std::numeric_limits<double>::infinity());
    const MaxPoolOptions options = {.kernel = kernel, .stride = stride};
    y = three ? MaxPool3d(all, options) : MaxPool2d(all, options);
  } else {
    y = sums(padded(images, 0));
    if (pool == Pool::kAverage) {
      // The number of elements that a window counts: those within x, or within x and the padding.
      const bool with_padding = a.Flag("including_pad");
      Tensor ones =
          Ones(Shape(absl::Span<const int64_t>(Joined({1, 1}, SizesOf(images, 2, images.rank())))));
      std::vector<int64_t> near, far;
      for (int i = kernel.count() - 1; i >= 0; --i) {
        near.insert(near.end(), {pad[i], pad[i]});
        far.insert(far.end(), {0, border ? kernel[i] - 1 - pad[i] : 0});
      }
      ones = Pad(Pad(ones, near, {.value = with_padding ? 1 : 0}), far);
      y = Div(y, sums(ones));
    }
  }
  return FromImages(y, x, base, last);
}

const NnablaOps kMaxPooling("MaxPooling", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Pooling(a, in[0], Pool::kMax)};
});
const NnablaOps kAveragePooling("AveragePooling", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Pooling(a, in[0], Pool::kAverage)};
});
const NnablaOps kSumPooling("SumPooling", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Pooling(a, in[0], Pool::kSum)};
});
const NnablaOps kGlobalAverage("GlobalAveragePooling", 1, 1, [](const Args&, In in) -> TensorList {
  return {AdaptiveAvgPool2d(in[0], 1)};
});

// Every element repeated along the last dimensions.
const NnablaOps kUnpooling("Unpooling", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t>& kernel = a.Ints("kernel");
  const bool last = a.Flag("channel_last");
  Tensor y = in[0];
  const auto count = static_cast<int64_t>(kernel.size());
  const int64_t first = y.rank() - count - (last ? 1 : 0);
  if (first < 0) {
    RefuseNnabla("the length of kernel", absl::StrCat("at most ", y.rank()), absl::StrCat(count));
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t dim = first + i, times = kernel[static_cast<size_t>(i)];
    std::vector<int64_t> wide = SizesOf(y, 0, y.rank()), flat = wide;
    wide.insert(wide.begin() + dim + 1, times);
    flat[static_cast<size_t>(dim)] *= times;
    y = Reshaped(Expand(Unsqueeze(y, dim + 1), absl::Span<const int64_t>(wide)), flat);
  }
  return {y};
});

// --- Recurrences --------------------------------------------------------------------------------

// The weights of each layer and direction. NNabla has those of input and state side by side,
// [directions, gates..., hidden, in + hidden], the first layer's in a tensor of their own, and
// biases as [layers, directions, gates..., hidden]. `new_gate` is GRU's: its biases are four, the
// last one for the state's part alone.
std::vector<RecurrentWeights> WeightsOf(const Args& a, In weights, int64_t hidden, int64_t gates,
                                        bool new_gate) {
  const int64_t layers = a.Int("num_layers"), directions = a.Flag("bidirectional") ? 2 : 1;
  const size_t more = layers > 1 ? 1 : 0;
  if (layers < 1 || weights.size() < 1 + more) {
    RefuseNnabla("num_layers", "one for which there are weights", absl::StrCat(layers));
  }
  const Tensor bias = weights.size() > 1 + more ? weights[1 + more] : Tensor();
  std::vector<RecurrentWeights> all;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Tensor of_layer = layer == 0 ? weights[0] : Select(weights[1], 0, layer - 1);
    for (int64_t direction = 0; direction < directions; ++direction) {
      const Tensor one = Select(of_layer, 0, direction);
      const int64_t in = one.size(-1) - hidden;
      const Tensor w = Reshaped(one, {gates * hidden, in + hidden});
      RecurrentWeights r = {.w_ih = Slice(w, 1, 0, in), .w_hh = Slice(w, 1, in)};
      if (bias.defined()) {
        const Tensor b = Flatten(Select(Select(bias, 0, layer), 0, direction));
        r.b_ih = new_gate ? Slice(b, 0, 0, 3 * hidden) : b;
        if (new_gate) r.b_hh = Concat({Zeros({2 * hidden}), Slice(b, 0, 3 * hidden)});
      }
      all.push_back(r);
    }
  }
  return all;
}

RecurrentOptions OptionsOf(const Args& a) {
  return {.bidirectional = a.Flag("bidirectional"),
          .dropout = a.Number("dropout"),
          .training = a.Flag("training")};
}

const NnablaOps kRnn("RNN", 3, 5, [](const Args& a, In in) -> TensorList {
  const bool relu = a.Text("nonlinearity") == "relu";
  const auto [y, h] =
      Rnn(in[0], Flatten(in[1], 0, 1), WeightsOf(a, in.subspan(2), in[1].size(-1), 1, false),
          OptionsOf(a), relu ? RnnNonlinearity::kRelu : RnnNonlinearity::kTanh);
  return {y, Reshape(h, in[1].shape())};
});

const NnablaOps kLstm("LSTM", 4, 6, [](const Args& a, In in) -> TensorList {
  const auto [y, state] = Lstm(in[0], {.h = Flatten(in[1], 0, 1), .c = Flatten(in[2], 0, 1)},
                               WeightsOf(a, in.subspan(3), in[1].size(-1), 4, false), OptionsOf(a));
  return {y, Reshape(state.h, in[1].shape()), Reshape(state.c, in[2].shape())};
});

const NnablaOps kGru("GRU", 3, 5, [](const Args& a, In in) -> TensorList {
  const auto [y, h] = Gru(in[0], Flatten(in[1], 0, 1),
                          WeightsOf(a, in.subspan(2), in[1].size(-1), 3, true), OptionsOf(a));
  return {y, Reshape(h, in[1].shape())};
});

}  // namespace
}  // namespace firn::io::internal
