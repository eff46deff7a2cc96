// ai.onnx.ml where it is numbers alone, pictures, and operators that are refused by name.
#include <string>
#include <utility>

#include "firn/io/image/image.h"
#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

constexpr std::string_view kMl = "ai.onnx.ml";

// --- ai.onnx.ml ---------------------------------------------------------------------------------

const OnnxOps kFeatures("ArrayFeatureExtractor", 1,
                        [](OnnxCall& call) -> Step {
                          call.node.Spec(1);
                          return One([](In in) {
                            const Tensor x = in[0].rank() == 1 ? Unsqueeze(in[0], 0) : in[0];
                            return IndexSelect(x, -1, Flatten(in[1]));
                          });
                        },
                        {.domain = kMl});

const OnnxOps kBinarizer("Binarizer", 1,
                         [](OnnxCall& call) -> Step {
                           const double threshold = call.Float("threshold", 0);
                           return One(
                               [=](In in) { return Gt(in[0], threshold).To(in[0].dtype()); });
                         },
                         {.domain = kMl});

// (x - offset) * scale, with numbers for each feature or for all.
const OnnxOps kScaler(
    "Scaler", 1,
    [](OnnxCall& call) -> Step {
      const auto offset = call.Floats("offset").value_or(std::vector<float>{0});
      const auto scale = call.Floats("scale").value_or(std::vector<float>{1});
      return One([=](In in) {
        const auto row = [&](const std::vector<float>& numbers) {
          return FromVector(numbers, {static_cast<int64_t>(numbers.size())}).To(in[0].device());
        };
        return (in[0].To(DType::kF32) - row(offset)) * row(scale);
      });
    },
    {.domain = kMl});

// --- Pictures: their bytes must be known ---------------------------------------------------------

// Made of red, green and blue, as ONNX's own decoder has it: a JPEG's brightness is another number
// where a colour is cut off.
Tensor Grey(const Tensor& rgb) {
  const Tensor shares = FromVector(std::vector<float>{19595, 38470, 7471}, {3, 1, 1});
  const Tensor sum = Sum(rgb.To(DType::kF32) * shares, {0}, true);  // below 2^24: exact
  return Floor((sum + 32768) / 65536).To(DType::kU8);
}

const OnnxOps kImageDecoder(
    "ImageDecoder", 20,
    [](OnnxCall& call) -> Step {
      const std::string format = call.OneOf("pixel_format", "RGB", {"RGB", "BGR", "Grayscale"});
      const std::vector<uint8_t> bytes = call.node.Known(0, "encoded_stream").ToVector<uint8_t>();
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const Tensor rgb = DecodeImage(text, {.color = ImageColor::kRgb});
      Tensor image = Permute(format == "Grayscale" ? Grey(rgb) : rgb, {1, 2, 0});
      if (format == "BGR") image = Flip(image, {2});
      call.node.Return(image.Contiguous());
      return {};
    },
    {.settings = {0}});

// --- Refused ------------------------------------------------------------------------------------

struct Refused {
  Refused(std::string_view domain, std::string_view why, std::vector<std::string_view> names) {
    for (const std::string_view name : names) {
      OnnxOps(name, 1, nullptr, {.domain = domain, .refused = why});
    }
  }
};

const Refused kStrings("", "strings",
                       {"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"});
const Refused kWords("", "counts of words", {"TfIdfVectorizer"});
const Refused kGradient("ai.onnx.preview.training", "gradients that a file asks for", {"Gradient"});
const Refused kFlex("ai.onnx.preview", "an operator that may still change", {"FlexAttention"});
const Refused kModels(kMl, "a model that is no network",
                      {"CastMap", "CategoryMapper", "DictVectorizer", "FeatureVectorizer",
                       "Imputer", "LabelEncoder", "LinearClassifier", "LinearRegressor",
                       "Normalizer", "OneHotEncoder", "SVMClassifier", "SVMRegressor",
                       "TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor",
                       "ZipMap"});

}  // namespace
}  // namespace firn::io::internal
