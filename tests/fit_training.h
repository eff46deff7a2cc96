#ifndef FIRN_TESTS_FIT_TRAINING_H_
#define FIRN_TESTS_FIT_TRAINING_H_

// A training for tests of Fit.

#include <filesystem>
#include <stdexcept>
#include <string>

#include "firn/firn.h"
#include "gtest/gtest.h"

namespace firn::fit_testing {

// Sizes of inputs are found in the first step; dropout draws from the default generator.
struct Net final : nn::Layer {
  nn::Linear& in = Add<nn::Linear>("in", {.out = 32});
  nn::BatchNorm1d& norm = Add<nn::BatchNorm1d>("norm");
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.2});
  nn::Linear& out = Add<nn::Linear>("out", {.out = 10});

 protected:
  Tensor Forward(const Tensor& x) override { return out(drop(Relu(norm(in(Flatten(x, 1)))))); }
};

inline io::DatasetPtr Digits(int64_t size) {
  return io::Subset(io::Digits({.part = io::DigitsOptions::Part::kTrain}), 0, size);
}

inline std::string Folder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

// A network, its optimizer and its data, alike in every instance.
struct Training {
  explicit Training(int64_t size = 200)
      : train(Digits(size), {.batch = 32, .shuffle = true, .seed = 3}),
        validation(io::Digits({.part = io::DigitsOptions::Part::kTest}), {.batch = 100}) {
    ManualSeed(5);
  }
  FitResult Run(FitOptions options) {
    options.progress.quiet = true;
    return Fit(net, adam, train, options);
  }
  Net net;
  optim::Adam adam{net.named_parameters(), {.lr = 1e-2}};
  io::DataLoader train, validation;
};

// Whether two state dicts are the same to the bit.
inline bool Same(const StateDict& a, const StateDict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    if (!b.Contains(name) || !tensor.Equals(b[name])) return false;
  }
  return true;
}

// The exception with which a test interrupts Fit.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("out of power") {}
};
// A network that learns nothing at rate 0.
struct Stuck {
  Stuck() { ManualSeed(1); }
  nn::Sequential net{nn::New<nn::Flatten>(), nn::New<nn::Linear>({.in = 64, .out = 10})};
  optim::Sgd sgd{net.named_parameters(), {.lr = 0}};
  io::DataLoader train{Digits(100), {.batch = 50}}, validation{Digits(10), {.batch = 10}};
  FitOptions options = {
      .epochs = 50, .validation = &validation, .patience = 3, .progress = {.quiet = true}};
};

}  // namespace firn::fit_testing

#endif  // FIRN_TESTS_FIT_TRAINING_H_
