// Every operation on its large samples (tensor/ops/*_samples.cc), in f32, with the rates that the
// samples declare:
//   op_benchmark --benchmark_filter='^matmul/'
//   op_benchmark --benchmark_filter='^conv' --no_winograd
// Samples without a count of bytes show those of their inputs and outputs.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/op.h"
#include "tensor/precision.h"
#include "tensor/samples.h"

namespace firn {
namespace {

double BytesOf(const std::vector<Tensor>& tensors) {
  double bytes = 0;
  for (const Tensor& t : tensors) {
    if (t.defined()) bytes += static_cast<double>(t.num_elements() * SizeOf(t.dtype()));
  }
  return bytes;
}

// The sample's inputs with floating ones in f32, each with memory of its own: some are written.
std::vector<Tensor> InputsOf(const testing::Sample& sample) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : sample.inputs) {
    if (!t.defined()) {
      inputs.push_back(t);
    } else {
      inputs.push_back(t.dtype() == DType::kF64 ? t.To(DType::kF32) : t.Clone());
    }
  }
  return inputs;
}

void RunSample(benchmark::State& state, const OpDef* op, size_t index) {
  const NoGradScope no_grad;
  const testing::Sample sample = testing::SamplesOf(op->name, true)->large[index];
  const std::vector<Tensor> inputs = InputsOf(sample);
  const std::vector<TensorRef> refs(inputs.begin(), inputs.end());
  double bytes = sample.bytes;
  try {
    const TensorList results = Apply(*op, refs, sample.attrs.ref());  // fills the allocator's cache
    if (bytes == 0) bytes = BytesOf(inputs) + BytesOf({results.begin(), results.end()});
    for (auto _ : state) benchmark::DoNotOptimize(Apply(*op, refs, sample.attrs.ref()));
  } catch (const Error& e) {
    state.SkipWithError(e.what());
    return;
  }
  const auto per_second = [&](double per_call) {
    return benchmark::Counter(per_call, benchmark::Counter::kIsIterationInvariantRate,
                              benchmark::Counter::OneK::kIs1000);
  };
  state.counters["bytes/s"] = per_second(bytes);
  if (sample.flops > 0) state.counters["flops/s"] = per_second(sample.flops);
}

void RegisterAll() {
  for (const OpDef* op : AllOps()) {
    const std::vector<std::string> names = testing::LargeSampleNames(op->name);
    for (size_t i = 0; i < names.size(); ++i) {
      benchmark::RegisterBenchmark(absl::StrCat(std::string(op->name), "/", names[i]).c_str(),
                                   RunSample, op, i)
          ->Unit(benchmark::kMicrosecond)
          ->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace firn

// Not the library's main, since operations are all known only once main runs. `--no_winograd` times
// f32 convolutions as plain sums.
int main(int argc, char** argv) {
  const auto last = std::remove_if(argv + 1, argv + argc,
                                   [](std::string_view arg) { return arg == "--no_winograd"; });
  firn::SetWinogradAllowed(last == argv + argc);
  argc = static_cast<int>(last - argv);
  firn::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
