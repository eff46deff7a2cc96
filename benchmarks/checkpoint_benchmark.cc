// What a checkpoint costs a training run: steps while one is written in the background against
// steps without, interleaved; and the speed of a foreground save against a raw write with fsync.
//
//   bazel run //benchmarks:checkpoint_benchmark -- [MiB] [ROUNDS] [FOLDER] [STEP_ROUNDS]
//
// STEP_ROUNDS is the number of rounds with steps, ROUNDS by default; 0 leaves them out.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Median(std::vector<double> v) {
  if (v.empty()) return NAN;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

double Mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

// Removes a file and waits until the disk has finished the work of that (a journal, discarded
// blocks), so that the next measurement does not pay for it.
void Remove(const std::string& path) {
  unlink(path.c_str());
  sync();
}

// What dd does with conv=fsync; seconds.
double RawWrite(const std::string& path, const std::vector<char>& bytes) {
  const double start = Now();
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t done = write(fd, bytes.data() + at, std::min<size_t>(1 << 20, bytes.size() - at));
    if (done <= 0) std::exit(1);
    at += static_cast<size_t>(done);
  }
  fsync(fd);
  close(fd);
  const double seconds = Now() - start;
  Remove(path);
  return seconds;
}

int Run(int64_t mib, int rounds, const std::string& folder, int step_rounds) {
  const int64_t width = 1024;
  nn::Sequential net;
  for (int64_t i = 0; i < mib / 4; ++i) net.Append<nn::Linear>({.in = width, .out = width});
  optim::Sgd sgd(net.named_parameters(), {.lr = 1e-4});
  const Tensor x = Randn({64, width}) * 0.01;
  const auto step = [&] {
    const double start = Now();
    sgd.ZeroGrad();
    firn::Mean(Square(net(x))).Backward();
    sgd.Step();
    return Now() - start;
  };
  const io::CheckpointParts parts = {{"model", net}, {"optimizer", sgd}};
  std::vector<double> foreground, raw, ratios, copies, alone, beside, written;
  std::vector<char> bytes(static_cast<size_t>(mib) << 20, 'x');
  for (int i = 0; i < rounds; ++i) {
    raw.push_back(RawWrite(folder + "/raw", bytes));
    const double start = Now();
    io::SaveCheckpoint(folder + "/foreground.h5", parts);
    foreground.push_back(Now() - start);
    ratios.push_back(raw.back() / foreground.back());
    Remove(folder + "/foreground.h5");
  }
  const double megabytes = static_cast<double>(mib << 20) / 1e6;
  std::printf(
      "foreground save %.0f MB/s, raw write and fsync %.0f MB/s: %.2f, median of rounds %.2f\n",
      megabytes / Median(foreground), megabytes / Median(raw), Median(raw) / Median(foreground),
      Median(ratios));
  std::fflush(stdout);
  if (step_rounds == 0) return 0;
  io::CheckpointManager manager(folder, {.keep_last = 1});
  for (int i = 0; i < 3; ++i) step();
  for (int i = 0; i < step_rounds; ++i) {
    for (int k = 0; k < 8; ++k) alone.push_back(step());
    const double start = Now();
    manager.Save(parts, {.step = i});
    copies.push_back(Now() - start);
    // A step that ends after the write still ran beside a part of it.
    const std::string path = folder + absl::StrFormat("/checkpoint_%012d.h5", i);
    while (!std::filesystem::exists(path)) beside.push_back(step());
    manager.Wait();
    written.push_back(Now() - start);
  }
  std::printf(
      "step alone %.1f ms, while a checkpoint is written %.1f ms: %.3f of medians, "
      "%.3f of means\n",
      1e3 * Median(alone), 1e3 * Median(beside), Median(beside) / Median(alone),
      Mean(beside) / Mean(alone));
  std::printf("copy at the call %.1f ms; written after %.1f ms\n", 1e3 * Median(copies),
              1e3 * Median(written));
  return 0;
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  const int64_t mib = argc > 1 ? std::atoll(argv[1]) : 100;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const std::string folder =
      argc > 3 ? argv[3] : (std::filesystem::temp_directory_path() / "firn_checkpoints").string();
  std::filesystem::create_directories(folder);
  return firn::Run(mib, rounds, folder, argc > 4 ? std::atoi(argv[4]) : rounds);
}
