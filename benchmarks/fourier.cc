// Fourier transforms of 64 lines of f32 of several lengths on one thread, a JSON line each:
//
//   bazel run //benchmarks:fourier -- 64 1000 4093
//
// For fourier_compare.py, which runs SciPy beside it (peers/scipy_fourier.py).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks/call_times.h"
#include "firn/firn.h"

namespace firn::benchmarks {
namespace {

// Microseconds of a call: the median of blocks of 5 ms.
double Microseconds(const std::function<void()>& call) {
  const auto seconds_of = [&](int64_t calls) {
    const double begin = ProcessorSeconds();
    for (int64_t i = 0; i < calls; ++i) call();
    return ProcessorSeconds() - begin;
  };
  int64_t calls = 1;
  while (seconds_of(calls) < 5e-3) calls *= 2;
  std::vector<double> blocks(9);
  for (double& block : blocks) block = seconds_of(calls) * 1e6 / static_cast<double>(calls);
  std::nth_element(blocks.begin(), blocks.begin() + 4, blocks.end());
  return blocks[4];
}

void Line(int64_t length) {
  const Tensor real = Randn({64, length});
  const Tensor complex = Randn({64, length, 2});  // real and imaginary parts
  const double fft = Microseconds([&] { Fft(complex); });
  const double rfft = Microseconds([&] { Rfft(real); });
  std::printf("{\"length\": %ld, \"fft_us\": %.3f, \"rfft_us\": %.3f}\n", static_cast<long>(length),
              fft, rfft);
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  try {
    firn::SetNumThreads(1);
    const firn::NoGradScope no_grad;
    for (int i = 1; i < argc; ++i) firn::benchmarks::Line(std::stoll(argv[i]));
  } catch (const std::exception& e) {
    std::cerr << "fourier: " << e.what() << "\n";
    return 1;
  }
}
