// Sequences of different lengths from the loader to a recurrent layer: training on padded batches
// with their lengths gives the same as training on single sequences.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

constexpr int64_t kSamples = 12, kBatch = 4, kEpochs = 3;

// Sequence i has 1 to 7 steps of three numbers, and one of four labels.
io::DatasetPtr Sequences() {
  return io::FromFunction(kSamples, [](int64_t i) {
    RandomGenerator random(static_cast<uint64_t>(i));
    const Tensor x = Randn({1 + (5 * i) % 7, 3}, DType::kF64, {.generator = &random});
    return io::Sample::Named({{"x", x}, {"label", Full({}, i % 4, DType::kI64)}});
  });
}

struct Reader final : nn::Module {
  nn::Lstm& lstm = Add<nn::Lstm>("lstm", {.in = 3, .hidden = 5});
  nn::Linear& head = Add<nn::Linear>("head", {.in = 5, .out = 4});
  Reader() {
    InitParameters();
    To(DType::kF64);
  }
  void InitParameters() {
    ManualSeed(9);
    const NoGradScope no_grad;
    for (Tensor& p : parameters()) p.CopyFrom(Rand(p.shape(), -0.7, 0.7));
  }

  // No step is spent on padding.
  Tensor Packed(const io::Sample& batch) {
    const PackedSequence packed = PackPaddedSequence(
        batch["x"], batch["x_length"], {.batch_first = true, .enforce_sorted = false});
    return head(lstm(packed).state.h[0]);
  }
  // Steps of padding are computed, behind those that count. It can be captured.
  Tensor Padded(const io::Sample& batch) {
    const Tensor y = lstm(batch["x"].Transpose(0, 1));  // [steps, n, 5]
    const Tensor& length = batch["x_length"];
    return head(y[{length - 1, Arange(length.size(0))}]);
  }
};

optim::Sgd SgdOf(nn::Module& net) { return optim::Sgd(net.named_parameters(), {.lr = 0.5}); }

// Trains on one sequence after the other, without padding.
std::vector<double> TrainAlone(Reader& net) {
  optim::Sgd sgd = SgdOf(net);
  const io::DatasetPtr data = Sequences();
  std::vector<double> losses;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    double sum = 0;
    for (int64_t first = 0; first < kSamples; first += kBatch) {
      sgd.ZeroGrad();
      for (int64_t i = first; i < first + kBatch; ++i) {
        const auto [x, label] = data->Get(i);
        const Tensor h = net.lstm(x.Unsqueeze(1), {}).state.h[0];
        const Tensor loss = CrossEntropy(net.head(h), label.Unsqueeze(0));
        (loss / kBatch).Backward();
        sum += loss.Item();
      }
      sgd.Step();
    }
    losses.push_back(sum / kSamples);
  }
  return losses;
}

std::vector<double> TrainBatches(Reader& net, const std::function<Tensor(const io::Sample&)>& read,
                                 bool frozen) {
  optim::Sgd sgd = SgdOf(net);
  io::DataLoader train(Sequences(), {.batch = kBatch, .collate = io::PadTo({.name = "x"})});
  const FitResult result =
      Fit(net, sgd, train,
          {.epochs = kEpochs,
           .forward =
               [&](const io::Sample& batch) { return CrossEntropy(read(batch), batch["label"]); },
           .frozen = frozen,
           .progress = {.quiet = true}});
  std::vector<double> losses;
  for (const FitEpoch& epoch : result.epochs) losses.push_back(epoch.loss);
  return losses;
}

double Distance(const Reader& a, const Reader& b) {
  double most = 0;
  for (const auto& [name, tensor] : a.state_dict()) {
    most = std::max(most, Amax(Abs(tensor - b.state_dict()[name])).Item());
  }
  return most;
}

// Sums of some 30 products in another order, in nine steps of which each has the errors of those
// before: 9 * 30 roundings of numbers around 1.
constexpr double kRounding = 9 * 30 * 2.3e-16;

TEST(FitSequencesTest, PaddedBatchesTrainAsSequencesAlone) {
  Reader alone;
  const std::vector<double> losses = TrainAlone(alone);
  EXPECT_LT(losses.back(), losses.front());
  const Reader untrained;
  EXPECT_GT(Distance(alone, untrained), 0.05);

  Reader packed, padded, frozen;
  const auto with = [](Reader& net, auto read) {
    return [&net, read](const io::Sample& batch) { return (net.*read)(batch); };
  };
  const std::vector<double> all[] = {TrainBatches(packed, with(packed, &Reader::Packed), false),
                                     TrainBatches(padded, with(padded, &Reader::Padded), false),
                                     TrainBatches(frozen, with(frozen, &Reader::Padded), true)};
  for (const std::vector<double>& these : all) {
    for (size_t e = 0; e < losses.size(); ++e) EXPECT_NEAR(these[e], losses[e], kRounding);
  }
  EXPECT_LT(Distance(packed, alone), kRounding);
  EXPECT_LT(Distance(padded, alone), kRounding);
  EXPECT_LT(Distance(frozen, alone), kRounding);
}

// Shows what the lengths are for: without them the padding is read, too.
TEST(FitSequencesTest, PaddingThatIsReadTrainsSomethingElse) {
  Reader alone, all;
  TrainAlone(alone);
  TrainBatches(
      all,
      [&](const io::Sample& batch) {
        return all.head(all.lstm(batch["x"].Transpose(0, 1), {}).state.h[0]);
      },
      false);
  EXPECT_GT(Distance(all, alone), 1e-3);
}

}  // namespace
}  // namespace firn
