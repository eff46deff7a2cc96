// Every operation on a CUDA device against the CPU: values of each kernel in each dtype on
// contiguous, strided and NHWC inputs, and gradients; and checks of the conformance suite on the
// device. Tests are named Cuda/<check>.<operation>.
//
// Without a GPU the device is the stand-in (tests/device/fake_cuda.h), on which kernels run on the
// host, and those of cuFFT, cuSOLVER and cuDNN's recurrent layers and attention with stand-ins for
// them (tests/device/fake_libraries.h); those of cuBLASLt, cuDNN's convolutions and CUB refuse it.
// In a build without --config=cuda there are no kernels to test, and one test says that it skips
// them.

#include "firn/device/cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "firn/autograd/backward.h"
#include "firn/device/context.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/testing/samples.h"
#include "firn/tensor/tuning.h"
#include "tests/device/fake_libraries.h"
#include "tests/error_of.h"
#include "tests/on_cuda.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"
#include "tests/ops/cuda_indices.h"
#include "tests/ops/cuda_rounding.h"
#include "tests/ops/on_device.h"

namespace firn::testing {
namespace {

// Operations that have no CUDA kernel, and why not. A call says that none is registered.
const std::set<std::string_view> kRefused = {
    // Their functions compute step by step with other operations there.
    "affine_group_norm", "affine_group_norm_grad", "masked_pack",    "masked_unpack",
    "unit_rows",         "unit_rows_grad",         "gru_layer",      "gru_layer_grad",
    "lstm_layer",        "lstm_layer_grad",        "rnn_relu_layer", "rnn_relu_layer_grad",
    "rnn_tanh_layer",    "rnn_tanh_layer_grad",    "pinv_values"};

constexpr Device kDevice = Device::Cuda(0);

// Samples that no CUDA kernel takes, though kernels take others of their operation: the functions
// compute these, too, step by step.
bool TakenByTheCpuAlone(std::string_view op, std::string_view sample) {
  return op.starts_with("recurrent_layer") && sample == "projected to as many";
}

// How f32 is multiplied: --math=strict, which is the default, tf32 or winograd.
enum class Math { kStrict, kTf32, kWinograd };
Math math = Math::kStrict;

Math MathFrom(absl::Span<char* const> arguments) {
  for (const absl::string_view argument : arguments) {
    if (argument == "--math=tf32") return Math::kTf32;
    if (argument == "--math=winograd") return Math::kWinograd;
  }
  return Math::kStrict;
}

bool HasCudaKernel(const OpDef& op) {
  return std::any_of(op.kernels.begin(), op.kernels.end(),
                     [](const Kernel& k) { return k.device == DeviceType::kCuda; });
}

Tensor There(const Tensor& t) { return OnDevice(t, kDevice); }
Call There(const Call& call) { return OnDevice(call, kDevice); }

// Only the CPU has blocks of some channels.
bool AnyOfTheCpu(const Call& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(), [](const Tensor& t) {
    const int64_t block = t.defined() ? t.spec().layout.channel_block : 0;
    return block != 0 && block != t.shape()[1];
  });
}

bool RoundsToTf32(std::string_view kernel, DType dtype) {
  return math == Math::kTf32 && dtype == DType::kF32 &&
         (kernel.find("cudnn_tf32") != kernel.npos || kernel.starts_with("cublaslt"));
}

// The dtype of the first input.
DType FloatOf(const Call& call) { return call.inputs.at(0).dtype(); }

void ExpectSame(const Samples& samples, const Call& call, const Outcome& got, const Outcome& want,
                std::string_view kernel, bool values) {
  ASSERT_EQ(got.results.size(), want.results.size());
  for (size_t i = 0; i < want.results.size(); ++i) {
    const Tensor &g = got.results[i], &w = want.results[i];
    EXPECT_EQ(g.device(), kDevice) << "result " << i;
    EXPECT_EQ(g.shape(), w.shape()) << "result " << i;
    EXPECT_EQ(g.dtype(), w.dtype()) << "result " << i;
    if (!values || g.shape() != w.shape() || g.dtype() != w.dtype()) continue;
    if (RoundsToTf32(kernel, w.dtype())) {
      ExpectNearInTf32(g.To(Device::Cpu()), w);
    } else {
      Tolerance allowed = ToleranceFor(samples, w.dtype(), call.inputs);
      allowed.atol += RoundingBeforeBias(kernel, call, w);
      EXPECT_TRUE(Near(g.To(Device::Cpu()), w, allowed)) << "result " << i;
    }
  }
}

// Returns whether the operation took the call.
bool CheckCall(const OpDef& op, const OpDef& on_cuda, const Samples& samples, const Call& call,
               bool values) {
  const bool winograd = WinogradAllowed();
  SetWinogradAllowed(false);  // of the values to compare with
  const Outcome want = Run(op, call);
  SetWinogradAllowed(winograd);
  if (!want.status.ok()) return false;
  const Outcome got = Run(on_cuda, There(call));
  if (got.status.code() == absl::StatusCode::kUnimplemented) return false;
  EXPECT_TRUE(got.status.ok()) << call.name << ": " << got.error;
  const std::string_view kernel = on_cuda.kernels.empty() ? "" : on_cuda.kernels[0].name;
  if (got.status.ok()) ExpectSame(samples, call, got, want, kernel, values);
  return true;
}

void ExpectRefused(const OpDef& op, const Samples& samples) {
  EXPECT_TRUE(kRefused.contains(op.name)) << "no CUDA kernel, and not among those that need none";
  for (const Sample& sample : samples.samples) {
    const Outcome got = Run(op, There(Call{sample.name, sample.inputs, sample.attrs}));
    if (got.status.ok()) continue;  // nothing to do
    const char* const why = "no kernel for cuda:0 takes this call (none is registered)";
    EXPECT_NE(got.error.find(why), std::string::npos) << got.error;
  }
}

void CheckAgainstCpu(const Subject& subject, const Samples& samples) {
  const OpDef& op = subject;
  if (!HasCudaKernel(op) && !op.is_view) return ExpectRefused(op, samples);
  EXPECT_FALSE(kRefused.contains(op.name)) << "it has a CUDA kernel now";
  const TuningScope tuning;  // for the kernels that take calls there alone
  std::vector<OpDef> alone;  // one kernel each
  for (const Kernel& k : op.kernels) {
    if (k.device == DeviceType::kCuda) alone.push_back(WithKernel(op, k));
  }
  if (op.is_view) alone.push_back(op);
  int calls = 0;
  bool any_taken = false;
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(op, sample)) {
      SCOPED_TRACE(call.name);
      bool taken = false;
      for (const OpDef& one : alone) {
        const std::string kernel(one.is_view ? "view" : one.kernels[0].name);
        SCOPED_TRACE(kernel);
        taken |= CheckCall(op, one, samples, call, sample.check_values);
        ++calls;
        for (const LayoutVariant& v : LayoutVariants(op, call)) {
          if (AnyOfTheCpu(v.call)) continue;
          SCOPED_TRACE(v.call.name);
          const bool expanded = v.call.name.find("expanded") != std::string::npos && !one.is_view;
          // Equal elements have equal errors, which add up.
          const bool adds_up = expanded && RoundsToTf32(kernel, FloatOf(v.call));
          const bool noise = expanded && IsAllRounding(op.name, kernel, FloatOf(v.call));
          const bool values = sample.check_values && !op.is_view && !adds_up && !noise;
          const bool did = CheckCall(op, one, samples, v.call, values);
          if (did && noise) ExpectSameAsOfCopies(one, v, kDevice);
          ++calls;
        }
      }
      EXPECT_TRUE(taken || !Run(op, call).status.ok()) << "no CUDA kernel takes this call";
      any_taken |= taken;
    }
  }
  EXPECT_TRUE(any_taken);
  std::printf("%d calls\n", calls);
}

void ExpectTakenByTheCpuAlone(const OpDef& op, const Sample& sample) {
  const Call call{sample.name, sample.inputs, sample.attrs};
  EXPECT_TRUE(Run(op, call).status.ok()) << sample.name;
  EXPECT_EQ(Run(op, There(call)).status.code(), absl::StatusCode::kUnimplemented) << sample.name;
}

// Gradients of all wanted inputs for a fixed weighting of the results.
std::vector<Tensor> Gradients(const OpDef& op, const Call& call,
                              const std::vector<size_t>& wanted) {
  std::vector<Tensor> inputs = call.inputs;
  for (size_t i : wanted) inputs[i] = inputs[i].Detach().SetRequiresGrad();
  Tensor total;
  for (const Tensor& out : Apply(op, RefsOf(inputs), call.attrs.ref())) {
    if (!out.requires_grad()) continue;
    const Tensor part = Sum(Mul(out, out));
    total = total.defined() ? Add(total, part) : part;
  }
  if (total.defined()) total.Backward();
  std::vector<Tensor> grads;
  for (size_t i : wanted) grads.push_back(inputs[i].grad());
  return grads;
}

void CheckGradientAgainstCpu(const Subject& subject, const Samples& samples) {
  const OpDef& op = subject;
  if (op.grad == nullptr || op.any_inout || op.collective || kRefused.contains(op.name)) return;
  for (const Sample& sample : samples.samples) {
    const std::optional<Call> call = InF64(op, sample);
    const std::vector<size_t> wanted = WantedGradients(op, sample);
    if (!call || wanted.empty() || !sample.check_gradient || samples.random) continue;
    SCOPED_TRACE(sample.name);
    const std::vector<Tensor> want = Gradients(op, *call, wanted);
    const std::vector<Tensor> got = Gradients(op, There(*call), wanted);
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i].defined(), want[i].defined());
      if (!want[i].defined()) continue;
      EXPECT_EQ(got[i].device(), kDevice);
      EXPECT_TRUE(Near(got[i].To(Device::Cpu()), want[i], {1e-9, 1e-9})) << "gradient " << i;
    }
  }
}

struct NamedCheck {
  const char* name;
  void (*run)(const Subject&, const Samples&);
  bool on_device;  // on samples that lie there: a check of the suite, which needs no CPU
};
constexpr NamedCheck kCudaChecks[] = {
    {"forward", CheckAgainstCpu, false},  {"gradient", CheckGradientAgainstCpu, false},
    {"index", CheckIndicesOnCuda, false}, {"buffers", CheckBuffers, true},
    {"saves", CheckSaves, true},          {"repetitions", CheckRepetitions, true},
    {"captured", CheckCaptured, true},
};

class CudaTest : public ::testing::Test {
 public:
  CudaTest(const NamedCheck& check, const OpDef& op) : check_(check), op_(op) {}

  void TestBody() override {
    const bool refused = kRefused.contains(op_.name);
    if (check_.on_device && refused) return;  // "forward" tests its error
    const auto samples = SamplesOf(op_.name);
    ASSERT_NE(samples, nullptr);
    std::erase_if(samples->samples, [&](const Sample& sample) {
      if (!TakenByTheCpuAlone(op_.name, sample.name)) return false;
      ExpectTakenByTheCpuAlone(op_, sample);
      return true;
    });
    if (check_.on_device) MoveTo(kDevice, samples.get());
    try {
      check_.run(op_, *samples);
    } catch (const Error& e) {
      FAIL() << e.what();
    }
  }

 private:
  const NamedCheck& check_;
  const OpDef& op_;
};

void RegisterAll() {
  for (const OpDef* op : AllOps()) {
    for (const NamedCheck& check : kCudaChecks) {
      if (check.run == CheckIndicesOnCuda && op->index_bounds == nullptr) continue;
      ::testing::RegisterTest(absl::StrCat("Cuda/", check.name).c_str(),
                              std::string(op->name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [&check, op]() -> CudaTest* { return new CudaTest(check, *op); });
    }
  }
}

// Only row 1 of a table is written; an unchecked index would reach row 2.
TEST(CudaKernelsTest, WriteNothingWhereAnIndexIsOutside) {
  if (!BuiltWithCuda()) GTEST_SKIP() << kWithoutCuda;
  const Tensor table = There(FromVector<float>({0, 1, 2, 3, 4, 5}));
  const Tensor part = Slice(table, 0, 2, 4);
  const Tensor values = FromVector<float>({7, 8}).To(kDevice);
  const Tensor indices = FromVector<int64_t>({-3, 1}).To(kDevice);
  const IndexAttrs attrs{.dims = {0}};
  Apply(Op("index_write"), {part, values, indices}, AttrsRef(attrs));
  EXPECT_NE(ErrorOf([&] { table.To(Device::Cpu()); }).find("index_write: indices -3 is outside"),
            std::string::npos);
  EXPECT_EQ(table.To(Device::Cpu()).ToVector<float>(), (std::vector<float>{0, 1, 2, 8, 4, 5}));
}

// On the stand-in a stream runs only when something waits for it, and its memory is the host's.
TEST(CudaKernelsTest, CopyOnTheStreamThatTheyAreGiven) {
  if (!BuiltWithCuda()) GTEST_SKIP() << kWithoutCuda;
  internal::CudaDeviceContext& context = **internal::CudaDeviceOf(kDevice);
  if (context.api().has_libraries()) GTEST_SKIP() << "only the stand-in can show it";
  const std::unique_ptr<Stream> other = *context.NewStream();
  for (const char* name : {"clone", "concat", "contiguous", "flip", "reorder", "slice_scatter"}) {
    SCOPED_TRACE(name);
    const OpDef& op = Op(name);
    const Sample sample = SamplesOf(name)->samples.at(0);
    const Call call{sample.name, sample.inputs, sample.attrs}, there = There(call);
    const Tensor want = firn::testing::Run(op, call).results.at(0);
    std::vector<Operand> in;
    for (const Tensor& t : there.inputs) in.push_back({t.impl()->data, &t.spec()});
    TensorSpec spec = want.spec();
    spec.device = kDevice;
    const Tensor got = *AllocateTensor(spec);
    const Operand out{got.impl()->data, &got.spec()};
    ASSERT_TRUE(context.Synchronize().ok());
    KernelContext k(in, {&out, 1}, there.attrs.ref(), nullptr);
    k.set_stream(other.get());
    const auto kernel = std::find_if(op.kernels.begin(), op.kernels.end(),
                                     [](const Kernel& c) { return c.device == DeviceType::kCuda; });
    ASSERT_TRUE(kernel->run(k).ok());
    const auto bytes = static_cast<size_t>(spec.bytes());
    EXPECT_NE(std::memcmp(out.data, want.impl()->data, bytes), 0) << "not yet";
    ASSERT_TRUE(other->Synchronize().ok());
    EXPECT_EQ(std::memcmp(out.data, want.impl()->data, bytes), 0);
    ASSERT_TRUE(context.Synchronize().ok());
  }
}

}  // namespace
}  // namespace firn::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!firn::CudaAvailable()) {
    std::printf("no GPU (%s): kernels run on the stand-in\n",
                firn::CudaUnavailableReason().c_str());
  }
  firn::testing::CudaOrFake device;
  const firn::FakeLibraries libraries(device.fake());
  using firn::testing::Math;
  firn::testing::math = firn::testing::MathFrom(absl::MakeConstSpan(argv, argc));
  const bool tf32 = firn::testing::math == Math::kTf32;
  // The stand-in does not round to TF32, but uses NHWC images for it.
  const bool nhwc = tf32 || device.fake() != nullptr;
  firn::SetConvMath(nhwc ? firn::F32Math::kTf32 : firn::F32Math::kStrict);
  firn::SetMatmulMath(tf32 ? firn::F32Math::kTf32 : firn::F32Math::kStrict);
  firn::SetWinogradAllowed(firn::testing::math == Math::kWinograd);
  if (firn::testing::BuiltWithCuda()) firn::testing::RegisterAll();
  return RUN_ALL_TESTS();
}
