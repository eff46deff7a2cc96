// Trains a network on Fashion-MNIST, on another data set in MNIST's files, or on the bundled
// digits:
//
//   bazel run //examples:mnist
//   bazel run //examples:mnist -- --dataset=digits --model=resnet --epochs=10
//   --save=/tmp/net.safetensors
//
// The last line of the output is "test accuracy: 0.XXXX". Two runs with the same flags and the same
// number of threads print the same losses and save the same file.

#include "firn/io/data/mnist.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_format.h"
#include "firn/device/cuda.h"
#include "firn/device/device.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/digits.h"
#include "firn/io/data/mnist_status.h"
#include "firn/io/parameters.h"
#include "firn/io/progress/progress.h"
#include "firn/nn/summary.h"
#include "firn/optim/schedule.h"
#include "firn/optim/scheduler.h"
#include "firn/tensor/autocast.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/rng.h"
#include "models.h"
#include "optimizers.h"

ABSL_FLAG(std::string, data_dir, "/usr/share/datasets/fashion-mnist",
          "folder of MNIST's four files, for --dataset=fashion");
ABSL_FLAG(std::string, dataset, "fashion", "fashion (the files in --data_dir) or digits (bundled)");
ABSL_FLAG(std::string, model, "lenet", "lenet, mlp, resnet or deep_cnn");
ABSL_FLAG(int64_t, depth, 10, "of deep_cnn: its blocks of 128 channels");
ABSL_FLAG(int64_t, epochs, 5, "passes through the training images; 0 only tests");
ABSL_FLAG(int64_t, batch_size, 64, "images in a step");
ABSL_FLAG(double, lr, 0,
          "learning rate at first, 0 takes the optimizer's own: 0.05, 0.01, 0.001; it falls in a "
          "straight line to nothing at the end");
ABSL_FLAG(std::string, optimizer, "adam", "sgd, momentum (sgd with momentum 0.9) or adam");
ABSL_FLAG(std::string, precision, "f32", "f32, or bf16 for convolutions and products");
ABSL_FLAG(uint64_t, seed, 0, "of the initial parameters and the order of images");
ABSL_FLAG(std::string, device, "cpu",
          "cpu, cuda or cuda:N; a build with --config=cuda has the latter");
ABSL_FLAG(int, threads, 0, "threads to compute with; 0: one for each core");
ABSL_FLAG(std::string, save, "", "file to write the trained parameters to (.safetensors)");
ABSL_FLAG(std::string, load, "", "file to start from (.safetensors)");
ABSL_FLAG(bool, quiet, false, "print nothing but the last line");

namespace firn::examples {
namespace {

constexpr int64_t kTestBatch = 500;

struct Data {
  io::DatasetPtr train, test;
};

absl::StatusOr<Data> LoadData(const std::string& name, const std::string& folder) {
  using Part = io::DigitsOptions::Part;
  if (name == "digits") {
    return Data{io::Digits({.part = Part::kTrain}), io::Digits({.part = Part::kTest})};
  }
  FIRN_RETURN_IF(name != "fashion",
                 InvalidArgument("there is no data set '", name, "' (want fashion or digits)"));
  Data data;
  FIRN_ASSIGN_OR_RETURN(data.train, io::TryMnist(folder, {.train = true}));
  FIRN_ASSIGN_OR_RETURN(data.test, io::TryMnist(folder, {.train = false}));
  return data;
}

// Scores of a batch. With --precision=bf16, convolutions and products compute in bf16, backwards
// too; sums, norms and parameters stay f32 (AutocastScope).
Tensor Scores(nn::Layer& net, const Tensor& images) {
  if (absl::GetFlag(FLAGS_precision) != "bf16") return net(images);
  const AutocastScope scope(DType::kBF16);
  return net(images);
}

// One pass over the data; returns the mean loss.
double TrainEpoch(nn::Layer& net, optim::Optimizer& optimizer, optim::Scheduler& schedule,
                  io::DataLoader& train, const io::ProgressOptions& progress) {
  net.Train();
  double sum = 0;
  auto bar = io::ProgressBar(train, progress);
  for (auto [images, labels] : bar) {
    optimizer.ZeroGrad();
    const Tensor loss = CrossEntropy(Scores(net, images), labels);
    loss.Backward();
    optimizer.Step();
    schedule.Step();
    const double value = loss.Item();  // waits for the device, once a step
    sum += value * static_cast<double>(labels.num_elements());
    bar.Note(absl::StrFormat("loss %.4f", value));
  }
  return sum / static_cast<double>(train.dataset().size());
}

// The share of images whose label gets the highest score.
double Accuracy(nn::Layer& net, const io::DatasetPtr& dataset, Device device) {
  const NoGradScope no_grad;
  net.Eval();
  int64_t right = 0;
  for (auto [images, labels] : io::DataLoader(dataset, {.batch = kTestBatch})) {
    const Tensor guesses = Argmax(Scores(net, images.To(device)), 1).To(Device::Cpu());
    const auto guess = guesses.host_view<int64_t>(), label = labels.host_view<int64_t>();
    for (size_t i = 0; i < label.size(); ++i) right += guess[i] == label[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(dataset->size());
}

Shape BatchShape(const io::Dataset& dataset, int64_t batch) {
  std::vector<int64_t> sizes = {batch};
  const Shape image = dataset.Get(0).input.shape();
  sizes.insert(sizes.end(), image.begin(), image.end());
  return Shape(sizes);
}

absl::Status CheckFlags() {
  const int64_t epochs = absl::GetFlag(FLAGS_epochs), batch = absl::GetFlag(FLAGS_batch_size);
  FIRN_RETURN_IF(epochs < 0, InvalidArgument("--epochs is ", epochs, " (want >= 0)"));
  FIRN_RETURN_IF(batch < 1, InvalidArgument("--batch_size is ", batch, " (want >= 1)"));
  const double lr = absl::GetFlag(FLAGS_lr);
  FIRN_RETURN_IF(!(lr >= 0 && std::isfinite(lr)),
                 InvalidArgument("--lr is ", lr, " (want a positive number)"));
  const std::string precision = absl::GetFlag(FLAGS_precision);
  FIRN_RETURN_IF(precision != "f32" && precision != "bf16",
                 InvalidArgument("there is no precision '", precision, "' (want f32 or bf16)"));
  const std::string save = absl::GetFlag(FLAGS_save);
  const std::filesystem::path end = std::filesystem::path(save).extension();
  FIRN_RETURN_IF(!end.empty() && end != ".safetensors",  // reports errors before training
                 InvalidArgument("--save is ", save, " (want a name that ends in .safetensors)"));
  const int threads = absl::GetFlag(FLAGS_threads);
  FIRN_RETURN_IF(threads < 0, InvalidArgument("--threads is ", threads, " (want >= 0)"));
  return absl::OkStatus();
}

// Trains for --epochs; returns the accuracy on the test images at the end.
double Train(nn::Layer& net, optim::Optimizer& optimizer, const Data& data, Device device) {
  const bool quiet = absl::GetFlag(FLAGS_quiet);
  const int64_t epochs = absl::GetFlag(FLAGS_epochs);
  io::DataLoader train(data.train, {.batch = absl::GetFlag(FLAGS_batch_size),
                                    .shuffle = true,
                                    .seed = absl::GetFlag(FLAGS_seed),
                                    .device = device});
  const int64_t steps = std::max<int64_t>(1, epochs * static_cast<int64_t>(train.size()));
  optim::Scheduler schedule(optimizer, optim::PolynomialLr({.steps = steps}));  // a straight line
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const std::string label = absl::StrFormat("epoch %d/%d", epoch, epochs);
    const double loss = TrainEpoch(net, optimizer, schedule, train,
                                   {.label = label, .quiet = quiet, .out = &std::cout});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (quiet) continue;
    const double accuracy = Accuracy(net, data.test, device);
    std::cout << absl::StreamFormat("%s: loss %.4f, %.0f images/s, test accuracy %.4f", label, loss,
                                    static_cast<double>(data.train->size()) / seconds.count(),
                                    accuracy)
              << std::endl;
    if (epoch == epochs) return accuracy;
  }
  return Accuracy(net, data.test, device);
}

absl::Status Run() {
  FIRN_RETURN_IF_ERROR(CheckFlags());
  if (absl::GetFlag(FLAGS_threads) > 0) SetNumThreads(absl::GetFlag(FLAGS_threads));
  FIRN_ASSIGN_OR_RETURN(const Device device, UsableDevice(absl::GetFlag(FLAGS_device)));
  ManualSeed(absl::GetFlag(FLAGS_seed));

  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<nn::Layer> net,
                        MakeModel(absl::GetFlag(FLAGS_model), absl::GetFlag(FLAGS_depth)));
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<optim::Optimizer> optimizer,
                        MakeOptimizer(absl::GetFlag(FLAGS_optimizer), net->named_parameters(),
                                      absl::GetFlag(FLAGS_lr)));
  FIRN_ASSIGN_OR_RETURN(const Data data,
                        LoadData(absl::GetFlag(FLAGS_dataset), absl::GetFlag(FLAGS_data_dir)));
  // Also tells the layers the size of their input.
  const nn::SummaryTable summary =
      nn::Summary(*net, BatchShape(*data.train, absl::GetFlag(FLAGS_batch_size)));
  if (!absl::GetFlag(FLAGS_quiet)) std::cout << summary << std::endl;
  net->To(device);
  const std::string load = absl::GetFlag(FLAGS_load), save = absl::GetFlag(FLAGS_save);
  if (!load.empty()) static_cast<void>(net->LoadStateDict(io::Load(load), {.source = load}));

  const double accuracy = Train(*net, *optimizer, data, device);
  if (!save.empty()) io::Save(save, net->state_dict());
  std::cout << absl::StreamFormat("test accuracy: %.4f", accuracy) << std::endl;
  return absl::OkStatus();
}

}  // namespace
}  // namespace firn::examples

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "trains a network on images of ten classes\n\n"
      "  mnist --dataset=digits --model=lenet --epochs=5 --save=net.safetensors");
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    std::cerr << "mnist: unexpected argument '" << rest[1] << "' (see --help)\n";
    return 2;
  }
  std::string message;
  try {
    const absl::Status status = firn::examples::Run();
    if (status.ok()) return 0;
    message = std::string(status.message());
  } catch (const std::exception& e) {
    message = e.what();
  }
  std::cerr << "mnist: " << message << "\n";
  return 1;
}
