// From a folder of images to a trained classifier: `classify_folder PHOTOS OUTPUT [EPOCHS]`, where
// PHOTOS has a folder for each class. A program that uses the classifier needs two files: net.firn,
// the network for one image (32x32, from 0 to 1), and classes.txt, the meaning of its results. If
// this program is killed and started again, it goes on where it was.

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

constexpr int64_t kSide = 32;

struct Net : nn::Layer {
  explicit Net(int64_t classes) : fc(Add<nn::Linear>("fc", {.out = classes})) {}
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn = Add<nn::BatchNorm2d>("bn", {.activation = FusedActivation::kRelu});
  nn::ResUnit& unit1 = Add<nn::ResUnit>("unit1", {.in = 16, .out = 32, .stride = 2});
  nn::ResUnit& unit2 = Add<nn::ResUnit>("unit2", {.in = 32, .out = 64, .stride = 2});
  nn::Linear& fc;
  Tensor Forward(const Tensor& x) override { return fc(Mean(unit2(unit1(bn(conv(x)))), {2, 3})); }
};

void Train(const std::string& photos, const std::string& output, int64_t epochs) {
  const io::Transform resize =
      io::Compose({io::Resize({.height = kSide, .width = kSide}), io::ToFloat()});
  const auto images = io::ImageFolder(photos, {.transform = resize});
  const auto classes = static_cast<int64_t>(images->classes().size());
  std::cout << images->size() << " images of " << classes << " classes\n";
  // About every fifth image is kept for measuring how good the network is.
  const io::DatasetPtr mixed = io::Shuffle(images, 1);
  const int64_t kept = images->size() / 5 + 1;
  io::DataLoader validation(io::Subset(mixed, 0, kept), {.batch = 64, .prefetch = 2});
  io::DataLoader train(io::Subset(mixed, kept, images->size()),
                       {.batch = 16, .shuffle = true, .prefetch = 2});

  ManualSeed(1);
  Net net(classes);
  optim::AdamW adam(net.named_parameters(), {.lr = 2e-3});
  const FitResult result =
      Fit(net, adam, train,
          {.epochs = epochs,
           .schedule = optim::OneCycleLr({.max_lr = 1e-2, .steps = epochs * train.size()}),
           .validation = &validation,
           .folder = output,
           .progress = {.log_lines = 0}});
  if (result.resumed_at > 0) std::cout << "went on after step " << result.resumed_at << "\n";
  io::LoadCheckpoint(result.best_checkpoint, {{"model", net}});
  std::cout << "accuracy " << Evaluate(net, validation).metric << "\n";

  net.Eval();
  const NoGradScope no_grad;
  const StaticGraph graph =
      Freeze([&](const Tensor& x) { return Softmax(net(x), 1); }, Zeros({1, 3, kSide, kSide}));
  io::SaveGraph(output + "/net.firn", graph, {.names = net.state_dict()});
  std::ofstream names(output + "/classes.txt");
  for (const std::string& name : images->classes()) names << name << "\n";
  std::cout << "wrote " << output << "/net.firn and classes.txt\n";
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: classify_folder PHOTOS OUTPUT [EPOCHS]\n";
    return 2;
  }
  try {
    Train(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 10);
  } catch (const Error& e) {
    std::cerr << "classify_folder: " << e.what() << "\n";
    return 1;
  }
}
