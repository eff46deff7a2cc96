// Times every operation on its large samples (*_samples.cc of tensor/ops and optim), in f32, with
// the rates that the samples declare:
//   op_benchmark --benchmark_filter='^matmul/'
//   op_benchmark --benchmark_filter='^conv' --no_winograd
//   op_benchmark --device=cuda
// Samples without a count of bytes show those of their inputs and outputs. On a CUDA device many
// calls are queued before one wait, and the time of a call is its share of that.

#include <benchmark/benchmark.h>

#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/usable_device.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/testing/samples.h"

namespace firn {
namespace {

double BytesOf(const std::vector<Tensor>& tensors) {
  double bytes = 0;
  for (const Tensor& t : tensors) {
    if (t.defined()) bytes += static_cast<double>(t.num_elements() * SizeOf(t.dtype()));
  }
  return bytes;
}

// The sample's inputs, floating ones in f32; each has memory of its own, since calls write into
// some.
std::vector<Tensor> InputsOf(const testing::Sample& sample, Device device) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : sample.inputs) {
    if (!t.defined()) {
      inputs.push_back(t);
    } else {
      inputs.push_back((t.dtype() == DType::kF64 ? t.To(DType::kF32) : t.Clone()).To(device));
    }
  }
  return inputs;
}

void Synchronize(Device device) {
  absl::StatusOr<DeviceContext*> context = GetDeviceContext(device);
  RaiseIfError(context.ok() ? (*context)->Synchronize() : context.status(), "op_benchmark");
}

void RunSample(benchmark::State& state, const OpDef* op, size_t index, Device device) {
  const NoGradScope no_grad;
  const testing::Sample sample = testing::SamplesOf(op->name, true)->large[index];
  const int64_t calls = device.is_cpu() ? 1 : 64;  // calls queued before one wait
  double bytes = sample.bytes;
  try {
    const std::vector<Tensor> inputs = InputsOf(sample, device);
    const std::vector<TensorRef> refs(inputs.begin(), inputs.end());
    const TensorList results = Apply(*op, refs, sample.attrs.ref());  // fills the allocator's cache
    Synchronize(device);
    if (bytes == 0) bytes = BytesOf(inputs) + BytesOf({results.begin(), results.end()});
    while (state.KeepRunningBatch(calls)) {
      for (int64_t i = 0; i < calls; ++i) {
        benchmark::DoNotOptimize(Apply(*op, refs, sample.attrs.ref()));
      }
      if (!device.is_cpu()) Synchronize(device);
    }
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

void RegisterAll(Device device) {
  for (const OpDef* op : AllOps()) {
    const std::vector<std::string> names = testing::LargeSampleNames(op->name);
    for (size_t i = 0; i < names.size(); ++i) {
      benchmark::RegisterBenchmark(absl::StrCat(std::string(op->name), "/", names[i]).c_str(),
                                   RunSample, op, i, device)
          ->Unit(benchmark::kMicrosecond)
          ->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace firn

// The main of Google Benchmark would not do: all operations are known only once main runs.
// `--no_winograd` times f32 convolutions as plain sums.
int main(int argc, char** argv) {
  firn::Device device = firn::Device::Cpu();
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i], device_flag = "--device=";
    if (arg == "--no_winograd") {
      firn::SetWinogradAllowed(false);
    } else if (arg.starts_with(device_flag)) {
      const auto usable = firn::UsableDevice(arg.substr(device_flag.size()));
      if (!usable.ok()) {
        std::cerr << usable.status().message() << "\n";
        return 1;
      }
      device = *usable;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  firn::RegisterAll(device);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
