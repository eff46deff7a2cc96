// Kernels by hand, in memory with guard bytes around every buffer. Outputs and workspace start with
// one filling in a first run and another in a second: equal results mean that everything was
// written and nothing uninitialised was read.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tensor/reorder.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"

namespace firn::testing {
namespace {

// `bytes` aligned bytes between two guards.
class Guarded {
 public:
  Guarded(size_t bytes, unsigned char fill) : bytes_(bytes), memory_(bytes + 3 * kGuard, kMark) {
    const auto base = reinterpret_cast<uintptr_t>(memory_.data());
    begin_ = kGuard + (kGuard - base % kGuard) % kGuard;
    std::memset(data(), fill, bytes);
  }
  unsigned char* data() { return memory_.data() + begin_; }
  bool guards_intact() const {
    const auto marked = [](unsigned char c) { return c == kMark; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), begin, marked) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), marked);
  }
  std::vector<unsigned char> contents() { return {data(), data() + bytes_}; }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kMark = 0xa7;
  size_t bytes_, begin_ = 0;
  std::vector<unsigned char> memory_;
};

// One run of a kernel and everything it touched.
struct HandRun {
  std::vector<std::unique_ptr<Guarded>> in, out;
  std::unique_ptr<Guarded> workspace;
};

// The call as Apply would hand it to the kernel: specs inferred, inputs in the layouts asked for.
class Prepared {
 public:
  Prepared(const OpDef& op, const Kernel& kernel, const Call& call)
      : op_(op), kernel_(kernel), call_(call), out_specs_(op.outputs.size()) {
    const std::vector<TensorRef> refs = RefsOf(call.inputs);
    InferContext c(refs, call.attrs.ref(), absl::MakeSpan(out_specs_));
    ok_ = op.infer(c).ok();
    std::vector<const TensorSpec*> specs = Pointers(call.inputs);
    const KernelQuery query(specs, out_specs_, call.attrs.ref());
    ok_ = ok_ && (kernel.supports == nullptr || kernel.supports(query).ok());
    arranged_ = call.inputs;
    if (!ok_ || kernel.layouts == nullptr) return;
    LayoutRequest want;
    want.in.assign(arranged_.size(), 0);
    want.out.assign(out_specs_.size(), 0);
    kernel.layouts(query, want);
    for (size_t i = 0; i < arranged_.size(); ++i) {
      if (arranged_[i].defined()) arranged_[i] = *Reordered(arranged_[i], want.in[i]);
    }
    for (size_t i = 0; i < out_specs_.size(); ++i) {
      TensorSpec& s = out_specs_[i];
      s = TensorSpec::Blocked(s.dtype, s.shape, s.device, want.out[i]);
    }
  }

  // False when the kernel refuses this call or Apply would not run it (nothing to do).
  bool runnable() const {
    const auto inout = [&](const ArgDecl& d) { return d.inout; };
    return ok_ && (out_specs_.empty() || std::any_of(op_.inputs.begin(), op_.inputs.end(), inout) ||
                   std::any_of(out_specs_.begin(), out_specs_.end(),
                               [](const TensorSpec& s) { return s.num_elements() != 0; }));
  }

  HandRun Run(unsigned char fill) const {
    HandRun r;
    std::vector<Operand> in, out;
    for (const Tensor& t : arranged_) {
      r.in.push_back(std::make_unique<Guarded>(t.defined() ? t.spec().bytes() : 0, fill));
      if (t.defined()) std::memcpy(r.in.back()->data(), t.impl()->data, t.spec().bytes());
      in.push_back(t.defined() ? Operand{r.in.back()->data(), &t.spec()} : Operand{});
    }
    for (const TensorSpec& s : out_specs_) {
      r.out.push_back(std::make_unique<Guarded>(s.bytes(), fill));
      out.push_back({r.out.back()->data(), &s});
    }
    const std::vector<const TensorSpec*> specs = Pointers(arranged_);
    const KernelQuery query(specs, out_specs_, call_.attrs.ref());
    r.workspace = std::make_unique<Guarded>(
        kernel_.workspace == nullptr ? 0 : kernel_.workspace(query), fill);
    KernelContext context(in, out, call_.attrs.ref(), r.workspace->data());
    const absl::Status status = kernel_.run(context);
    EXPECT_TRUE(status.ok()) << status;
    return r;
  }

  bool inout(size_t i) const { return DeclOf(op_, i).inout; }
  std::vector<unsigned char> BytesBefore(size_t i) const {
    const Tensor& t = arranged_[i];
    if (!t.defined()) return {};
    const auto* data = reinterpret_cast<const unsigned char*>(t.impl()->data);
    return {data, data + t.spec().bytes()};
  }

 private:
  static std::vector<const TensorSpec*> Pointers(const std::vector<Tensor>& tensors) {
    std::vector<const TensorSpec*> p;
    for (const Tensor& t : tensors) p.push_back(t.defined() ? &t.spec() : nullptr);
    return p;
  }

  const OpDef& op_;
  const Kernel& kernel_;
  const Call& call_;
  std::vector<Tensor> arranged_;
  std::vector<TensorSpec> out_specs_;
  bool ok_ = false;
};

void CheckKernel(const OpDef& op, const Kernel& kernel, const Call& call, bool random) {
  const Prepared prepared(op, kernel, call);
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

void CheckBuffers(const OpDef& op, const Samples& samples) {
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(op, sample)) {
      SCOPED_TRACE(call.name);
      for (const Kernel& k : op.kernels) {
        if (k.device != DeviceType::kCpu) continue;
        SCOPED_TRACE(absl::StrCat("kernel ", std::string(k.name)));
        CheckKernel(op, k, call, samples.random);
      }
    }
  }
}

}  // namespace firn::testing
