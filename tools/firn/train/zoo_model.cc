#include "tools/firn/train/zoo_model.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/parameters.h"
#include "firn/nn/eval_scope.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"
#include "tools/firn/train/zoo_families.h"

namespace firn::cli {
namespace {

// Whether a network takes one image and gives a score for each class.
bool Classifies(const zoo::Network& network) {
  return network.classes > 0 && !network.of_pixels_or_boxes && network.inputs.size() == 1 &&
         network.inputs[0].count == 0 && network.inputs[0].shape.rank() == 3;
}

bool IsTrained(const zoo::Network& network) {
  const ZooFamily* const family = FindZooFamily(network.family);
  return family == nullptr ? Classifies(network) : family->read != nullptr;
}

// Pictures with a side below this are small; some networks have a first layer of their own for
// them.
constexpr int64_t kSmall = 64;

Model ParseClassifier(const Config& config, const zoo::Network& network) {
  const bool given = config.Has("small_images");
  const bool small = config.Flag("small_images", false);
  if (small && !network.has_small_stem) {
    config.Refuse("small_images", network.name + " has no first layer for small images");
  }
  return {[&network, given, small](const Shape& sample, const Shape& result) {
    const bool is_small = std::min(sample[1], sample[2]) < kSmall;
    return zoo::Make(network.name,
                     {.classes = result[0],
                      .channels = sample[0],
                      .small_images = given ? small : network.has_small_stem && is_small});
  }};
}

template <class... What>
[[noreturn]] void Refuse(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "model");
}

// Samples by their rank.
constexpr const char* kSamples[] = {"", "ids [length]", "points [3, count] or [count, 3]",
                                    "images [channels, height, width]"};

// Throws unless a sample has the rank of the published network's input.
void CheckRank(const zoo::Network& network, const Shape& sample) {
  const int rank = network.inputs[0].shape.rank();
  if (sample.rank() == rank) return;
  Refuse(network.name, " takes ", kSamples[rank], ", a sample is ", sample.ToString());
}

// Tables of points have one in a row, the network wants one in a column. For other samples nothing
// changes.
void TakeRowsOfPoints(nn::Layer& net, const zoo::Network& network, const Shape& sample) {
  const Shape& published = network.inputs[0].shape;
  if (sample.rank() != 2 || sample[0] == published[0] || sample[1] != published[0]) return;
  net.RegisterForwardPreHook(
      [](nn::Module&, absl::Span<Tensor> inputs) { inputs[0] = Transpose(inputs[0], 1, 2); });
}

// Throws, before anything is trained, if the network takes no such samples.
void Try(nn::Layer& net, const zoo::Network& network, const Shape& sample) {
  const NoGradScope no_grad;
  const nn::EvalScope eval(net);
  std::vector<int64_t> sizes = {1};
  sizes.insert(sizes.end(), sample.begin(), sample.end());
  try {
    net(Zeros(Shape(sizes), network.inputs[0].count > 0 ? DType::kI64 : DType::kF32));
  } catch (const Error& e) {
    Refuse(network.name, " does not take samples ", sample.ToString(), ": ", e.what());
  }
}

// A file's tensors may have other shapes if they are for other classes: only their first dimension
// differs, and is `outputs` here. Throws for other differences.
void CheckHeadAlone(const nn::LoadReport& report, const std::string& path, int64_t outputs) {
  const auto behind_first = [](const std::string& shape) {
    return shape.substr(std::min(shape.find(','), shape.size() - 1));
  };
  for (const nn::LoadReport::Misshaped& m : report.misshaped) {
    const std::string rest = behind_first(m.net);
    if (m.net == absl::StrCat("[", outputs, rest) && rest == behind_first(m.file)) continue;
    Refuse(path, ": ", m.name, " is ", m.file, ", the network's is ", m.net,
           "; only a last layer of other classes may differ (a first layer for small images is "
           "\"small_images\")");
  }
}

}  // namespace

std::vector<std::string> TrainedOfZoo() {
  std::vector<std::string> names;
  for (const std::string& name : zoo::Names()) {
    if (name != "mlp" && IsTrained(zoo::Find(name))) names.push_back(name);
  }
  return names;
}

const zoo::Network* FindTrained(const std::string& name) {
  const std::vector<std::string> names = TrainedOfZoo();
  return std::find(names.begin(), names.end(), name) == names.end() ? nullptr : &zoo::Find(name);
}

Model ParseZoo(const Config& config, const zoo::Network& network) {
  const ZooFamily* const family = FindZooFamily(network.family);
  Model model =
      family == nullptr ? ParseClassifier(config, network) : family->read(config, network.name);
  const std::string weights = config.Text("weights", "");
  const std::string path = weights.empty() ? "" : config.Path(weights);
  model.make = [&network, make = model.make, ids = model.ids, path](const Shape& sample,
                                                                    const Shape& result) {
    CheckRank(network, sample);
    std::unique_ptr<nn::Layer> net = make(sample, result);
    net->SetName(network.name);
    TakeRowsOfPoints(*net, network, sample);
    Try(*net, network, sample);
    // A head for other classes starts anew, everything else has to be there.
    if (!path.empty()) {
      const nn::LoadReport report =
          net->LoadStateDict(io::Load(path), {.skip_mismatched = true, .source = path});
      CheckHeadAlone(report, path, ids > 0 ? -1 : result[0]);
    }
    return net;
  };
  return model;
}

}  // namespace firn::cli
