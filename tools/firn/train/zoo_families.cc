// A new family whose networks do not classify images needs a row here (a test says so).
#include "tools/firn/train/zoo_families.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "firn/nn/zoo/deeplab.h"
#include "firn/nn/zoo/gpt2.h"
#include "firn/nn/zoo/lstm_language_model.h"
#include "firn/nn/zoo/pointnet.h"
#include "firn/nn/zoo/unet.h"
#include "firn/nn/zoo/wavenet.h"

namespace firn::cli {
namespace {

constexpr int64_t kMost = 1'000'000;

// Sets those options that the configuration names.
class OptionReader {
 public:
  explicit OptionReader(const Config& config) : config_(config) {}

  void Field(const char* name, int64_t& value) {
    if (!OfData(name)) value = config_.Integer(name, value, 1, kMost);
  }
  void Field(const char* name, double& value) { value = config_.Number(name, value); }
  void Field(const char* name, bool& value) { value = config_.Flag(name, value); }
  void Field(const char* name, std::vector<int64_t>& value) {
    value = config_.Integers(name, value);
    for (const int64_t size : value) {
      if (size < 1 || size > kMost) config_.Refuse(name, "expected sizes from 1 to 1000000");
    }
  }
  template <class T>
  void Always(const char* name, T& value) {
    Field(name, value);
  }

 private:
  // Whether the data decide it: channels of images, and classes.
  static bool OfData(std::string_view name) { return name == "in" || name == "classes"; }

  const Config& config_;
};

template <class M, auto kOf>
typename M::Options OptionsOf(const Config& config, const std::string& name) {
  typename M::Options options = kOf(name, {});
  OptionReader reader(config);
  options.Visit(reader);
  return options;
}

// A network of numbers; `kFill` sets the options that the data decide.
template <class M, auto kOf, auto kFill>
Model ReadOfNumbers(const Config& config, const std::string& name) {
  const auto options = OptionsOf<M, kOf>(config, name);
  return {[options](const Shape& sample, const Shape& result) {
    typename M::Options o = options;
    kFill(o, sample, result);
    return std::make_unique<M>(o);
  }};
}

// A network of ids, whose number is the option `kCount`.
template <class M, auto kOf, auto kCount, bool kScoresLast>
Model ReadOfIds(const Config& config, const std::string& name) {
  const auto options = OptionsOf<M, kOf>(config, name);
  return {.make = [options](const Shape&, const Shape&) { return std::make_unique<M>(options); },
          .ids = options.*kCount,
          .scores_last = kScoresLast};
}

void FillUnet(zoo::UnetOptions& o, const Shape& sample, const Shape& result) {
  o.in = sample[0];
  o.classes = result[0];
}

template <class O>
void FillClasses(O& o, const Shape&, const Shape& result) {
  o.classes = result[0];
}

constexpr char kBoxes[] =
    "boxes must be assigned to places of its result before there is a loss; examples/detector.cc "
    "is a program that does it";

constexpr ZooFamily kFamilies[] = {
    {"Deeplab", ReadOfNumbers<zoo::Deeplab, zoo::DeeplabOf, FillClasses<zoo::DeeplabOptions>>, ""},
    {"Unet", ReadOfNumbers<zoo::Unet, zoo::UnetOf, FillUnet>, ""},
    {"Pointnet", ReadOfNumbers<zoo::Pointnet, zoo::PointnetOf, FillClasses<zoo::PointnetOptions>>,
     ""},
    {"Gpt2", ReadOfIds<zoo::Gpt2, zoo::Gpt2Of, &zoo::Gpt2Options::vocabulary, true>, ""},
    {"LstmLanguageModel",
     ReadOfIds<zoo::LstmLanguageModel, zoo::LstmLanguageModelOf,
               &zoo::LstmLanguageModelOptions::vocabulary, true>,
     ""},
    {"Wavenet", ReadOfIds<zoo::Wavenet, zoo::WavenetOf, &zoo::WavenetOptions::levels, false>, ""},
    {"Bert", nullptr,
     "it gives a state for each token and no scores; write a program that puts a layer behind it "
     "(examples/finetune.cc gives a network a new last layer)"},
    {"Dcgan", nullptr,
     "two networks train against each other; examples/gan.cc is a program that does it"},
    {"Ssdlite", nullptr, kBoxes},
    {"Tacotron", nullptr,
     "it takes a text and its sound, and its loss compares two spectrograms; write a program with "
     "a ForwardFunction (evaluate.h, examples/detector.cc)"},
    {"Transformer", nullptr,
     "it takes two texts; write a program with a ForwardFunction (evaluate.h, "
     "examples/detector.cc)"},
    {"VqVae", nullptr,
     "its loss has terms of the codebook (nn/zoo/vq_vae.h); examples/vae.cc is a program with a "
     "loss of several terms"},
    {"YoloV2", nullptr, kBoxes},
    {"YoloV3", nullptr, kBoxes},
};

}  // namespace

const ZooFamily* FindZooFamily(const std::string& family) {
  const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                  [&](const ZooFamily& f) { return family == f.name; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace firn::cli
