// Kernels by hand, in memory with guard bytes around every buffer. Outputs and workspace start with
// one filling in a first run and another in a second: equal results mean that everything was
// written and nothing uninitialised was read.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/reorder.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/on_device.h"

namespace firn::testing {
namespace {

// `bytes` aligned bytes of a device between two guards.
class Guarded {
 public:
  Guarded(Device device, size_t bytes, unsigned char fill)
      : Guarded(device, std::vector<unsigned char>(bytes, fill)) {}
  Guarded(Device device, const std::vector<unsigned char>& contents)
      : device_(device), bytes_(contents.size()) {
    const auto all = static_cast<int64_t>(bytes_ + 3 * kGuard);
    memory_ = *AllocateTensor(TensorSpec::Contiguous(DType::kU8, {all}, device));
    const auto base = reinterpret_cast<uintptr_t>(memory_.impl()->data);
    begin_ = kGuard + (kGuard - base % kGuard) % kGuard;
    std::vector<unsigned char> image(static_cast<size_t>(all), kMark);
    std::copy(contents.begin(), contents.end(),
              image.begin() + static_cast<std::ptrdiff_t>(begin_));
    WriteBytes(device, memory_.impl()->data, image);
  }
  void* data() { return memory_.impl()->data + begin_; }
  bool guards_intact() const {
    const std::vector<unsigned char> image = Image();
    const auto marked = [](unsigned char c) { return c == kMark; };
    const auto begin = image.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(image.begin(), begin, marked) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), image.end(), marked);
  }
  std::vector<unsigned char> contents() { return ReadBytes(device_, data(), bytes_); }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kMark = 0xa7;

  std::vector<unsigned char> Image() const {
    return ReadBytes(device_, memory_.impl()->data, memory_.spec().bytes());
  }

  Device device_;
  size_t bytes_, begin_ = 0;
  Tensor memory_;
};

// One run of a kernel and everything it touched.
struct HandRun {
  std::vector<std::unique_ptr<Guarded>> in, out;
  std::unique_ptr<Guarded> workspace;
};

// The call as Apply would hand it to the kernel: specs inferred, inputs in the layouts asked for.
class HandCall {
 public:
  HandCall(const OpDef& op, const Kernel& kernel, const Call& call)
      : op_(WithKernel(op, kernel)),
        call_(call),
        device_(DeviceOf(call)),
        out_specs_(op.outputs.size()) {
    const std::vector<TensorRef> refs = RefsOf(call.inputs);
    InferContext c(refs, call.attrs.ref(), absl::MakeSpan(out_specs_));
    c.device = device_;
    if (!op.infer(c).ok()) return;
    std::vector<const TensorSpec*> specs;
    for (const Tensor& t : call.inputs) specs.push_back(t.defined() ? &t.spec() : nullptr);
    const KernelQuery query(specs, out_specs_, call.attrs.ref());
    ok_ = internal::Prepare(op_, query, device_, &answer_).ok();
    arranged_ = call.inputs;
    if (!ok_ || answer_.as_is) return;
    for (size_t i = 0; i < arranged_.size(); ++i) {
      if (!arranged_[i].defined()) continue;
      arranged_[i] = *Reordered(arranged_[i], answer_.layouts.in[i]);
    }
    for (size_t i = 0; i < out_specs_.size(); ++i) {
      TensorSpec& s = out_specs_[i];
      s = TensorSpec::Blocked(s.dtype, s.shape, s.device, answer_.layouts.out[i]);
    }
  }

  // False if the kernel refuses this call, or Apply would not run it (there is nothing to do).
  bool runnable() const {
    const auto inout = [&](const ArgDecl& d) { return d.inout; };
    return ok_ && (out_specs_.empty() || std::any_of(op_.inputs.begin(), op_.inputs.end(), inout) ||
                   std::any_of(out_specs_.begin(), out_specs_.end(),
                               [](const TensorSpec& s) { return s.num_elements() != 0; }));
  }

  HandRun Run(unsigned char fill) const {
    HandRun r;
    std::vector<Operand> in, out;
    for (size_t i = 0; i < arranged_.size(); ++i) {
      const Tensor& t = arranged_[i];
      r.in.push_back(std::make_unique<Guarded>(device_, BytesBefore(i)));
      in.push_back(t.defined() ? Operand{r.in.back()->data(), &t.spec()} : Operand{});
    }
    for (const TensorSpec& s : out_specs_) {
      r.out.push_back(std::make_unique<Guarded>(device_, s.bytes(), fill));
      out.push_back({r.out.back()->data(), &s});
    }
    r.workspace = std::make_unique<Guarded>(device_, answer_.workspace, fill);
    KernelContext context(in, out, call_.attrs.ref(), r.workspace->data());
    context.set_state(answer_.state.get());
    const absl::Status status = answer_.run(context);
    EXPECT_TRUE(status.ok()) << status;
    return r;
  }

  bool inout(size_t i) const { return DeclOf(op_, i).inout; }
  std::vector<unsigned char> BytesBefore(size_t i) const {
    const Tensor& t = arranged_[i];
    return t.defined() ? ReadBytes(device_, t.impl()->data, t.spec().bytes())
                       : std::vector<unsigned char>();
  }

 private:
  const OpDef op_;  // with the one kernel
  Prepared answer_;
  const Call& call_;
  const Device device_;
  std::vector<Tensor> arranged_;
  std::vector<TensorSpec> out_specs_;
  bool ok_ = false;
};

void CheckKernel(const OpDef& op, const Kernel& kernel, const Call& call, bool random) {
  const HandCall prepared(op, kernel, call);
  if (!prepared.runnable()) return;
  // 0xff is NaN in every floating dtype; 0x01 is a small number in all of them.
  HandRun a = prepared.Run(0xff), b = prepared.Run(0x01);
  for (size_t i = 0; i < a.in.size(); ++i) {
    EXPECT_TRUE(a.in[i]->guards_intact()) << "written beside input " << i;
    if (prepared.inout(i)) {
      EXPECT_TRUE(random || a.in[i]->contents() == b.in[i]->contents())
          << "inout " << i << " depends on uninitialised memory";
    } else {
      EXPECT_EQ(a.in[i]->contents(), prepared.BytesBefore(i)) << "input " << i << " was changed";
    }
  }
  for (size_t i = 0; i < a.out.size(); ++i) {
    EXPECT_TRUE(a.out[i]->guards_intact()) << "written beside output " << i;
    EXPECT_TRUE(random || a.out[i]->contents() == b.out[i]->contents())
        << "output " << i << " is not fully written, or depends on uninitialised memory";
  }
  EXPECT_TRUE(a.workspace->guards_intact()) << "written beside the workspace";
}

}  // namespace

void CheckBuffers(const Subject& subject, const Samples& samples) {
  if (subject.composite()) return;
  const OpDef& op = subject;
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(op, sample)) {
      SCOPED_TRACE(call.name);
      for (const Kernel& k : op.kernels) {
        if (k.device != DeviceOf(call).type) continue;
        SCOPED_TRACE(absl::StrCat("kernel ", std::string(k.name)));
        CheckKernel(op, k, call, samples.random);
      }
    }
  }
}

}  // namespace firn::testing
