// Measures how fast a loader makes batches of JPEGs, and whether training ever waits for one.
//
//   bazel run //benchmarks:loader_benchmark -- --folder=/tmp/jpegs
//   /path/to/venv/bin/python benchmarks/peers/torch_loader.py --folder=/tmp/jpegs
//   bazel run //benchmarks:loader_benchmark -- --resnet18_steps=10
//
// The first decodes JPEGs of about 500 x 375 pixels (it makes them if the folder does not exist),
// applies RandomResizedCrop to 224 x 224, RandomHorizontalFlip and Normalize, and makes batches of
// 64. The last trains resnet18 on images of 3x32x32 (RandomCrop with padding, flip, Normalize), and
//     prints how long each step waited for its batch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/transforms/crop.h"
#include "firn/io/data/transforms/flip.h"
#include "firn/io/data/transforms/normalize.h"
#include "firn/io/image/image.h"
#include "firn/nn/loss.h"
#include "firn/nn/zoo/resnet.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

ABSL_FLAG(std::string, folder, "/tmp/firn_jpegs", "Images, one folder a class; made if missing.");
ABSL_FLAG(int64_t, images, 512, "How many to make.");
ABSL_FLAG(int, workers, 2, "Threads that make batches.");
ABSL_FLAG(int64_t, batch, 64, "Images in a batch.");
ABSL_FLAG(int, epochs, 5, "Passes over the folder, of which the first warms up.");
ABSL_FLAG(int64_t, resnet18_steps, 0, "Train this many steps instead, of batches of 128.");

namespace firn::benchmarks {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

// Draws shapes and some noise: the JPEG takes about 70 kB, like a photograph of this size.
Tensor Picture(int64_t i, int64_t height, int64_t width) {
  RandomGenerator random(static_cast<uint64_t>(i));
  std::vector<uint8_t> pixels(static_cast<size_t>(3 * height * width));
  const Tensor noise = Randn({3, height, width}, DType::kF32, {.generator = &random});
  const float* extra = noise.host_view<float>().data();
  for (int64_t k = 0; k < 3 * height * width; ++k) {
    const auto c = static_cast<double>(k / (height * width) + i);
    const auto y = static_cast<double>(k / width % height), x = static_cast<double>(k % width);
    const double v = 128 + 60 * std::sin(x / (17 + c)) * std::cos(y / (23 + c)) +
                     40 * std::sin((x + y) / 5) + 10 * static_cast<double>(extra[k]);
    pixels[static_cast<size_t>(k)] = static_cast<uint8_t>(std::clamp(v, 0.0, 255.0));
  }
  return FromVector(pixels, {3, height, width});
}

void MakeFolder(const std::string& folder, int64_t images) {
  if (std::filesystem::exists(folder)) return;
  for (int64_t i = 0; i < images; ++i) {
    const std::string path = absl::StrCat(folder, "/", i % 2 == 0 ? "even" : "odd");
    std::filesystem::create_directories(path);
    const bool tall = i % 4 == 3;
    io::WriteImage(absl::StrCat(path, "/", i, ".jpg"),
                   Picture(i, tall ? 500 : 375, tall ? 375 : 500));
  }
}

io::Transform ImageNetNormalize() {
  return io::Normalize({.mean = {0.485, 0.456, 0.406}, .stddev = {0.229, 0.224, 0.225}});
}

void TimeDecoding() {
  const std::string folder = absl::GetFlag(FLAGS_folder);
  MakeFolder(folder, absl::GetFlag(FLAGS_images));
  io::DataLoader loader(
      io::ImageFolder(folder),
      {.batch = absl::GetFlag(FLAGS_batch),
       .shuffle = true,
       .prefetch = absl::GetFlag(FLAGS_workers),
       .transform = io::Compose({io::RandomResizedCrop({.height = 224, .width = 224}),
                                 io::RandomHorizontalFlip(), ImageNetNormalize()})});
  std::vector<double> rates;
  for (int epoch = 0; epoch < absl::GetFlag(FLAGS_epochs); ++epoch) {
    int64_t images = 0;
    const double start = Now();
    for (const io::Sample& batch : loader) images += batch.input.size(0);
    const double rate = static_cast<double>(images) / (Now() - start);
    std::printf("epoch %d: %.0f images/s\n", epoch, rate);
    std::fflush(stdout);
    if (epoch > 0 || absl::GetFlag(FLAGS_epochs) == 1) rates.push_back(rate);
  }
  std::printf("median %.0f images/s with %d workers\n", Median(rates),
              absl::GetFlag(FLAGS_workers));
}

void TimeWaiting(int64_t steps) {
  const int64_t batch = 128, images = batch * (steps + 1);
  RandomGenerator random(1);
  const Tensor pixels =
      (Rand({images, 3, 32, 32}, DType::kF32, {.generator = &random}) * 255).To(DType::kU8);
  std::vector<int64_t> labels(static_cast<size_t>(images));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>(i % 10);
  io::DataLoader loader(
      io::FromTensors(pixels, FromVector(labels)),
      {.batch = batch,
       .shuffle = true,
       .prefetch = absl::GetFlag(FLAGS_workers),
       .transform = io::Compose({io::RandomCrop({.height = 32, .width = 32, .padding = 4}),
                                 io::RandomHorizontalFlip(), ImageNetNormalize()})});
  zoo::Resnet net(zoo::ResnetOf("resnet18", {.classes = 10, .small_images = true}));
  optim::Sgd sgd(net.named_parameters(), {.lr = 0.01, .momentum = 0.9});
  std::vector<double> waits, trained;
  double at = Now();
  for (auto [x, y] : loader) {
    const double got = Now();
    sgd.ZeroGrad();
    CrossEntropy(net(x), y).Backward();
    sgd.Step();
    const double done = Now();
    // Every run has to wait for the first batch.
    if (!trained.empty() || steps == 1) waits.push_back(1e3 * (got - at));
    trained.push_back(1e3 * (done - got));
    at = done;
    if (static_cast<int64_t>(trained.size()) > steps) break;
  }
  std::printf("step %.1f ms, waited for its batch %.3f ms (median), %.3f ms at most\n",
              Median(trained), Median(waits), *std::max_element(waits.begin(), waits.end()));
}

int Run() {
  try {
    const int64_t steps = absl::GetFlag(FLAGS_resnet18_steps);
    if (steps > 0) {
      TimeWaiting(steps);
    } else {
      TimeDecoding();
    }
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Times the data loader; see the top of loader_benchmark.cc.");
  absl::ParseCommandLine(argc, argv);
  return firn::benchmarks::Run();
}
