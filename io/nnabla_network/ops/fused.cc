// Functions that run several others one after the other, and a gradient that is a function itself.
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

struct FusedInputs {
  Tensor bias, z;
  std::vector<Tensor> norm;  // beta, gamma, mean, variance, or nothing
};

// The number of inputs tells which ones behind x and the weight are left out. A single one is the
// bias if it has one dimension.
FusedInputs InputsOf(In in) {
  FusedInputs found;
  const size_t more = in.size() - 2;
  if (more == 1) (in[2].rank() == 1 ? found.bias : found.z) = in[2];
  if (more == 2) found = {.bias = in[2], .z = in[3], .norm = {}};
  if (more >= 4) found.norm.assign(in.begin() + 2, in.begin() + 6);
  if (more == 5) found.z = in[6];
  if (more == 3) {
    RefuseNnabla("the number of inputs", "2 to 4, or 6 or 7 with a batch norm", "5");
  }
  return found;
}

// The convolution does the padding itself, except if it has a number for each end or is not of
// zeros: then a function before it pads.
Tensor FusedConvolution(const Args& a, In in, const Tensor& bias) {
  const int64_t base = a.Int("base_axis");
  const std::vector<int64_t>& pad = a.Ints("pad");
  const auto dims = static_cast<size_t>(in[0].rank() - AxisOf(in[0], base) - 1);
  if (pad.size() != dims && pad.size() != 2 * dims) {
    RefuseNnabla("the length of pad", absl::StrCat(dims, " or ", 2 * dims),
                 absl::StrCat(pad.size()));
  }
  Tensor x = in[0];
  const bool zeros = a.Text("pad_mode") == "constant" && a.Number("constant_value") == 0;
  const bool own = pad.size() == dims && zeros;
  if (!own) {
    std::vector<int64_t> ends;
    for (size_t i = 0; i < 2 * dims; ++i) ends.push_back(pad[pad.size() == dims ? i / 2 : i]);
    x = RunNnabla("Pad",
                  {{"pad_width", ends}, {"mode", a.Text("pad_mode")}, a.As("constant_value")}, {x});
  }
  std::vector<Tensor> inputs = {x, in[1]};
  if (bias.defined()) inputs.push_back(bias);
  return RunNnabla("Convolution",
                   {a.As("base_axis"),
                    {"pad", own ? pad : std::vector<int64_t>(dims, 0)},
                    a.As("stride"),
                    a.As("dilation"),
                    a.As("group"),
                    a.As("channel_last")},
                   inputs);
}

Tensor Activated(const std::string& name, absl::Span<const float> numbers, const Tensor& x) {
  const auto alpha = [&]() -> nnabla::Argument {
    if (numbers.size() != 1) {
      RefuseNnabla("nonlinearity_args", "one number, alpha",
                   absl::StrCat(numbers.size(), " numbers"));
    }
    return {"alpha", numbers[0]};
  };
  if (name == "identity" || name.empty()) return x;
  if (name == "relu") return Relu(x);
  if (name == "sigmoid") return Sigmoid(x);
  if (name == "tanh") return Tanh(x);
  if (name == "leaky_relu") return RunNnabla("LeakyReLU", {alpha()}, {x});
  if (name == "elu") return RunNnabla("ELU", {alpha()}, {x});
  if (name == "relu6") return Relu6(x);
  RefuseNnabla("nonlinearity", "one that NNabla has", name);
}

// x, beta, gamma, mean, variance.
Tensor BatchNormed(const Args& a, nnabla::Argument axes, In in) {
  return RunNnabla("BatchNormalization",
                   {std::move(axes),
                    a.As("decay_rate"),
                    a.As("eps"),
                    a.As("batch_stat"),
                    {"no_scale", false},
                    {"no_bias", false}},
                   in);
}

TensorList FusedNorm(const Args& a, In in) {
  Tensor y = BatchNormed(a, a.As("axes"), in.subspan(0, 5));
  if (in.size() > 5) y = Add(y, in[5]);
  return {Activated(a.Text("nonlinearity"), {}, y)};
}
const NnablaOps kFusedNorm("FusedBatchNormalization", 5, 6, FusedNorm,
                           {.writes = 2, .first_written = 3});

TensorList Fused(const Args& a, In in) {
  const FusedInputs inputs = InputsOf(in);
  Tensor y = FusedConvolution(a, in, inputs.bias);
  if (!inputs.norm.empty()) {
    const int64_t axis = a.Flag("channel_last") ? in[0].rank() - 1 : a.Int("base_axis");
    std::vector<Tensor> all = inputs.norm;
    all.insert(all.begin(), y);
    y = BatchNormed(a, {"axes", std::vector<int64_t>{axis}}, all);
  }
  if (inputs.z.defined()) y = Add(y, inputs.z);
  return {Activated(a.Text("nonlinearity"), a.Floats("nonlinearity_args"), y)};
}
const NnablaOps kFused("FusedConvolution", 2, 7, Fused, {.writes = 2, .first_written = 4});

// The gradient of MaxPooling: dy is added where the maxima were; padding is never a maximum.
const NnablaOps kMaxPoolingBackward(
    "MaxPoolingBackward", 2, 2, [](const Args& a, In in) -> TensorList {
      const std::vector<int64_t>&kernel = a.Ints("kernel"), &pad = a.Ints("pad");
      const auto count = static_cast<int64_t>(kernel.size());
      const bool last = a.Flag("channel_last"), border = !a.Flag("ignore_border");
      const int64_t base = in[1].rank() - count - 1;
      if (count < 2 || count > 3 || base < 0 || pad.size() != kernel.size() ||
          a.Ints("stride").size() != kernel.size()) {
        RefuseNnabla("the lengths of kernel, stride and pad", "equal, 2 or 3, and below the rank",
                     absl::StrCat(count, ", ", a.Ints("stride").size(), " and ", pad.size()));
      }
      std::vector<int64_t> ends;
      for (size_t i = kernel.size(); i-- > 0;) {
        if (pad[i] < 0 || pad[i] >= kernel[i]) {
          RefuseNnabla("pad", "at least 0 and less than kernel", absl::StrCat(pad[i]));
        }
        ends.insert(ends.end(), {pad[i], border ? kernel[i] - 1 : pad[i]});
      }
      const Tensor images = ImagesOf(in[1].Detach(), base, last);
      const Tensor padded = Pad(images, ends, {.value = -std::numeric_limits<double>::infinity()});
      const MaxPoolOptions options = {.kernel = Sizes(absl::Span<const int64_t>(kernel)),
                                      .stride = Sizes(absl::Span<const int64_t>(a.Ints("stride")))};
      const Tensor places = (count == 3 ? MaxPool3dWithIndices(padded, options)
                                        : MaxPool2dWithIndices(padded, options))
                                .indices;
      const Tensor flat = Flatten(padded, 2);
      const Tensor sums = ScatterAdd(ZerosLike(flat), 2, Flatten(places, 2),
                                     Flatten(ImagesOf(in[0], base, last), 2));
      Tensor dx = Reshape(sums, padded.shape());
      for (int64_t i = 0; i < count; ++i) {
        const int64_t begin = pad[static_cast<size_t>(i)];
        dx = Slice(dx, 2 + i, begin, begin + images.size(2 + i));
      }
      return {FromImages(Contiguous(dx), in[1], base, last)};
    });

}  // namespace
}  // namespace firn::io::internal
