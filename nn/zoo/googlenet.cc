#include "firn/nn/zoo/googlenet.h"

#include "absl/strings/str_cat.h"
#include "firn/nn/init.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

BasicConvOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .deviation = 0.01};
}

std::vector<nn::LayerSpec> Branch(int64_t in, int64_t squeezed, int64_t out) {
  return {nn::New<BasicConv>(ConvOf(in, squeezed, 1)),
          nn::New<BasicConv>(ConvOf(squeezed, out, 3))};
}

nn::LinearOptions LinearOf(int64_t in, int64_t out) {
  return {.in = in, .out = out, .weight_init = nn::init::TruncatedNormal(0, 0.01, -2, 2)};
}

// Halves the image.
Tensor Pooled(const Tensor& x, int64_t kernel) {
  return MaxPool2d(x, {.kernel = kernel, .stride = 2, .ceil_mode = true});
}

// Table 1 of the paper.
struct Unit {
  const char* name;
  GooglenetUnitOptions options;
};
constexpr Unit kUnits[] = {
    {"3a", {192, 64, 96, 128, 16, 32, 32}},     {"3b", {256, 128, 128, 192, 32, 96, 64}},
    {"4a", {480, 192, 96, 208, 16, 48, 64}},    {"4b", {512, 160, 112, 224, 24, 64, 64}},
    {"4c", {512, 128, 128, 256, 24, 64, 64}},   {"4d", {512, 112, 144, 288, 32, 64, 64}},
    {"4e", {528, 256, 160, 320, 32, 128, 128}}, {"5a", {832, 256, 160, 320, 32, 128, 128}},
    {"5b", {832, 384, 192, 384, 48, 128, 128}}};
// Units that pooling follows, and units that auxiliary classifiers follow.
constexpr size_t k3b = 1, k4a = 2, k4d = 5, k4e = 6;

}  // namespace

GooglenetUnit::GooglenetUnit(const Options& options)
    : LayerWithOptions(options),
      branch1_(Add<BasicConv>("branch1", ConvOf(options.in, options.branch1, 1))),
      branch2_(
          Add<nn::Sequential>("branch2", Branch(options.in, options.squeezed2, options.branch2))),
      branch3_(
          Add<nn::Sequential>("branch3", Branch(options.in, options.squeezed3, options.branch3))),
      branch4_(Add<nn::Sequential>(
          "branch4", {nn::New<nn::MaxPool2d>({.kernel = 3, .stride = 1, .padding = 1}),
                      nn::New<BasicConv>(ConvOf(options.in, options.branch4, 1))})) {}

Tensor GooglenetUnit::Forward(const Tensor& x) {
  return Concat({branch1_(x), branch2_(x), branch3_(x), branch4_(x)}, 1);
}

GooglenetClassifier::GooglenetClassifier(const Options& options)
    : LayerWithOptions(options),
      conv_(Add<BasicConv>("conv", ConvOf(options.in, 128, 1))),
      fc1_(Add<nn::Linear>("fc1", LinearOf(128 * 4 * 4, 1024))),
      fc2_(Add<nn::Linear>("fc2", LinearOf(1024, options.classes))) {}

Tensor GooglenetClassifier::Forward(const Tensor& x) {
  const Tensor h = Relu(fc1_(Flatten(conv_(AdaptiveAvgPool2d(x, 4)), 1)));
  return fc2_(Dropout(h, options().dropout, training()));
}

Googlenet::Googlenet(const Options& options)
    : LayerWithOptions(options),
      conv1_(Add<BasicConv>("conv1", ConvOf(3, 64, 7, 2))),
      conv2_(Add<BasicConv>("conv2", ConvOf(64, 64, 1))),
      conv3_(Add<BasicConv>("conv3", ConvOf(64, 192, 3))),
      units_(AddUnits()),
      aux1_(AddAuxiliary("aux1", kUnits[k4a].options.out())),
      aux2_(AddAuxiliary("aux2", kUnits[k4d].options.out())),
      fc_(Add<nn::Linear>("fc", LinearOf(1024, options.classes))) {}

std::vector<GooglenetUnit*> Googlenet::AddUnits() {
  std::vector<GooglenetUnit*> units;
  for (const Unit& unit : kUnits) {
    units.push_back(&Add<GooglenetUnit>(absl::StrCat("inception", unit.name), unit.options));
  }
  return units;
}

GooglenetClassifier* Googlenet::AddAuxiliary(const char* name, int64_t channels) {
  if (!options().auxiliary) return nullptr;
  return &Add<GooglenetClassifier>(
      name, {.in = channels, .classes = options().classes, .dropout = options().auxiliary_dropout});
}

GooglenetScores Googlenet::Scores(const Tensor& x, bool auxiliary) {
  GooglenetScores scores;
  Tensor h = conv1_(options().transform_input ? half_colours_(x) : x);
  h = Pooled(conv3_(conv2_(Pooled(h, 3))), 3);
  for (size_t i = 0; i < units_.size(); ++i) {
    h = (*units_[i])(h);
    if (auxiliary && i == k4a) scores.aux1 = (*aux1_)(h);
    if (auxiliary && i == k4d) scores.aux2 = (*aux2_)(h);
    if (i == k3b) h = Pooled(h, 3);
    if (i == k4e) h = Pooled(h, 2);
  }
  scores.main = fc_(Dropout(Mean(h, {2, 3}), options().dropout, training()));
  return scores;
}

GooglenetScores Googlenet::WithAuxiliary(const Tensor& x) {
  if (aux1_ == nullptr) RaiseNoAuxiliary("zoo::Googlenet");
  const nn::CallScope scope(*this);
  return Scores(x, true);
}

namespace {

const PublishedClassifiers<GooglenetOptions>& All() {
  static const auto* const all =
      // With auxiliary classifiers, as in its file of weights; torchvision counts 6'624'904
      // without.
      new PublishedClassifiers<GooglenetOptions>{{"googlenet", {{}, 13'004'888, 1.498}}};
  return *all;
}

}  // namespace

GooglenetOptions GooglenetOf(const std::string& name, const Options& options) {
  GooglenetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  of.auxiliary_dropout = DropoutOr(options, of.auxiliary_dropout);
  return of;
}

std::vector<Network> GooglenetNetworks() {
  return ClassifiersOf<Googlenet>(All(), GooglenetOf,
                                  "Szegedy et al., \"Going deeper with convolutions\", 2014");
}

}  // namespace firn::zoo
