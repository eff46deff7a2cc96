#include "firn/tensor/kernels/cuda/chain_kernel.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/chain_source.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {
namespace {

using Program = firn::inner::internal::ElementwiseProgram;
using firn::inner::internal::CudaApi;
using firn::inner::internal::ElementwiseProgramKernel;

constexpr int64_t kThreads = 256;
constexpr int64_t kMaxBlocks = 8192;  // threads stride over the rest

class Chain final : public ElementwiseProgramKernel {
 public:
  Chain(const void* kernel, const ChainSource& chain)
      : kernel_(kernel),
        functors_(chain.functors),
        functors_at_(chain.functors_at),
        bytes_(chain.argument_bytes()),
        pack_(chain.pack) {}

  size_t workspace_bytes() const override { return 0; }

  absl::Status Run(const Program& p, KernelContext& k) const override {
    alignas(16) char argument[4096];  // laid out as ChainSource describes
    char* to = argument;
    const auto put = [&to](const auto& value) {
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
    };
    for (const Operand& o : k.operands_in()) put(o.data);
    for (const Operand& o : k.operands_out()) put(o.data);
    const int64_t n = p.shape.num_elements();
    put(n);
    std::memset(to, 0, static_cast<size_t>(argument + functors_at_ - to));
    std::memcpy(argument + functors_at_, functors_.data(), functors_.size());
    const int64_t threads = (n + pack_ - 1) / pack_;
    const int64_t blocks = std::clamp<int64_t>((threads + kThreads - 1) / kThreads, 1, kMaxBlocks);
    return Launch(k, {.name = "elementwise_program",
                      .kernel = kernel_,
                      .blocks = static_cast<unsigned>(blocks),
                      .threads = kThreads,
                      .shared_bytes = 0,
                      .argument = argument,
                      .argument_bytes = bytes_,
                      .on_host = nullptr});
  }

 private:
  const void* kernel_;
  std::vector<unsigned char> functors_;
  size_t functors_at_, bytes_;
  int pack_;
};

// Values that pass between steps lie in the workspace, whole.
class StepByStep final : public ElementwiseProgramKernel {
 public:
  StepByStep(const Program& p, Device device)
      : slot_bytes_(static_cast<size_t>((p.shape.num_elements() + 7) / 8) * 8 * sizeof(double)),
        workspace_bytes_(p.num_slots * slot_bytes_) {
    for (const Program::Operand& o : p.operands) {
      specs_.push_back(o.single ? TensorSpec::Contiguous(o.dtype, Shape(), device)
                                : TensorSpec::Blocked(o.dtype, p.shape, device, p.channel_block));
    }
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }

  absl::Status Run(const Program& p, KernelContext& k) const override {
    const auto operand = [&](int i) { return i < 0 ? Operand{} : OperandAt(p, k, i); };
    for (const Program::Step& s : p.steps) {
      absl::InlinedVector<Operand, Program::kMaxStepInputs> in;
      for (int i : s.in) in.push_back(operand(i));
      const Operand out = operand(s.out);
      KernelContext context(in, {&out, 1}, s.attrs.ref(), nullptr);
      context.set_stream(k.stream());
      FIRN_RETURN_IF_ERROR(s.kernel->run(context));
    }
    return absl::OkStatus();
  }

 private:
  Operand OperandAt(const Program& p, const KernelContext& k, int i) const {
    const auto at = static_cast<size_t>(i);
    if (at < p.num_inputs) return {k.operands_in()[at].data, &specs_[at]};
    if (at < p.num_inputs + p.num_results) {
      return {k.operands_out()[at - p.num_inputs].data, &specs_[at]};
    }
    const size_t offset = static_cast<size_t>(p.operands[at].slot) * slot_bytes_;
    return {k.workspace<char>() + offset, &specs_[at]};
  }

  std::vector<TensorSpec> specs_;  // by operand
  size_t slot_bytes_, workspace_bytes_;
};

absl::Status Failed(Device device, const std::string& why) {
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) {
    std::fprintf(stderr, "firn: elementwise operations of frozen graphs run one by one on %s: %s\n",
                 device.ToString().c_str(), why.c_str());
  }
  return Internal("cannot compile a chain of elementwise operations: ", why);
}

// The kernel, or null on a stand-in.
absl::StatusOr<const void*> Compiled(CudaApi& api, Device device, const ChainSource& chain) {
  static std::mutex mutex;
  static auto* const kernels = new std::map<std::pair<int, std::string>, const void*>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto key = std::pair(device.index, chain.source.text);
  if (const auto at = kernels->find(key); at != kernels->end()) return at->second;
  const void* kernel = nullptr;
  std::string log;
  const int code =
      api.CompileKernel(device.index, chain.source, ChainSource::kKernel, &kernel, &log);
  if (code != 0) return Failed(device, absl::StrCat(api.Explain(code), ": ", log));
  if (kernel != nullptr) kernels->emplace(key, kernel);
  return kernel;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ElementwiseProgramKernel>> CompileChain(const Program& program,
                                                                             Device device) {
  FIRN_ASSIGN_OR_RETURN(const ChainSource chain, MakeChainSource(program));
  FIRN_ASSIGN_OR_RETURN(firn::inner::internal::CudaDeviceContext* const context,
                        firn::inner::internal::CudaDeviceOf(device));
  CudaApi& api = context->api();
  FIRN_ASSIGN_OR_RETURN(const void* const kernel, Compiled(api, device, chain));
  if (kernel == nullptr) return std::make_shared<StepByStep>(program, device);
  return std::make_shared<Chain>(kernel, chain);
}

}  // namespace firn::cuda
