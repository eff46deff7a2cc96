// Compares values with the sample's reference, for each kernel alone, in each dtype, on each
// layout; and the shape rule with the results.

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

// Whether some call must reach the kernel on this machine: not every processor multiplies tiles, or
// bytes.
bool RunsHere(const Kernel& k) {
  if (k.name == "tiles" && !cpu::MultipliesTiles()) return false;
  if (k.name == "bytes" && !cpu::MultipliesBytes()) return false;
  return k.device == DeviceType::kCpu;
}

// The specs that `infer` announces for the call.
absl::StatusOr<std::vector<TensorSpec>> Inferred(const OpDef& op, const Call& call) {
  std::vector<TensorSpec> specs(op.outputs.size());
  const std::vector<TensorRef> refs = RefsOf(call.inputs);
  InferContext c(refs, call.attrs.ref(), absl::MakeSpan(specs));
  if (absl::Status s = op.infer(c); !s.ok()) return s;
  return specs;
}

void ExpectInferred(const OpDef& op, const Call& call, const std::vector<Tensor>& outputs) {
  const absl::StatusOr<std::vector<TensorSpec>> specs = Inferred(op, call);
  ASSERT_TRUE(specs.ok()) << specs.status();
  ASSERT_EQ(specs->size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec& got = outputs[i].spec();
    const TensorSpec& want = (*specs)[i];
    EXPECT_EQ(got.shape, want.shape) << "output " << i;
    EXPECT_EQ(got.dtype, want.dtype) << "output " << i;
    EXPECT_EQ(got.device, want.device) << "output " << i;
    if (op.is_view) {
      EXPECT_EQ(got.layout.strides, want.layout.strides);
    } else {
      EXPECT_TRUE(got.dense());
    }
    EXPECT_FALSE(outputs[i].requires_grad());
  }
}

// A composite has the shapes of the reference and the declared dtypes.
void ExpectDeclared(const Subject& subject, const Call& call, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ArgDecl& d = subject.output(i);
    const DType got = outputs[i].dtype();
    EXPECT_TRUE(Contains(d.dtypes, got)) << "output " << i << " is " << DTypeName(got);
    for (size_t j = 0; j < call.inputs.size(); ++j) {
      if (d.same_dtype_as != DeclOf(subject, j).name || !call.inputs[j].defined()) continue;
      EXPECT_EQ(got, call.inputs[j].dtype()) << "output " << i;
    }
    EXPECT_FALSE(outputs[i].requires_grad());
  }
}

void ExpectSpecs(const Subject& subject, const Call& call, const std::vector<Tensor>& outputs) {
  if (subject.composite()) {
    ExpectDeclared(subject, call, outputs);
  } else {
    ExpectInferred(subject, call, outputs);
  }
}

// For a result whose values should be `want`.
Tolerance Allowed(const Subject& subject, const Samples& samples, const Call& call, DType result,
                  const std::vector<double>& want) {
  const Tolerance one = ToleranceFor(samples, result, call.inputs);
  return subject.composite() ? OfSeveral(one, want) : one;
}

void ExpectReference(const Subject& subject, const Samples& samples, const Call& call,
                     const Outcome& got) {
  const std::vector<RefTensor> want =
      samples.reference(ReferenceInputs(call.inputs), call.attrs.ref());
  ASSERT_EQ(want.size(), got.results.size()) << "the reference gives another number of results";
  for (size_t i = 0; i < want.size(); ++i) {
    const Tensor& t = got.results[i];
    EXPECT_TRUE(Near(t, want[i], Allowed(subject, samples, call, t.dtype(), want[i].values)))
        << "result " << i;
  }
}

void ExpectSameValues(const Subject& subject, const Samples& samples, const Call& call,
                      const Outcome& got, const Outcome& want) {
  ASSERT_EQ(want.results.size(), got.results.size());
  for (size_t i = 0; i < want.results.size(); ++i) {
    const Tensor& t = want.results[i];
    EXPECT_TRUE(
        Near(got.results[i], t, Allowed(subject, samples, call, t.dtype(), t.ToVector<double>())))
        << "result " << i;
  }
}

// Whether this operation takes the call at all; the last kernel of a device has to.
bool Refused(const Outcome& o) { return o.status.code() == absl::StatusCode::kUnimplemented; }

void CheckLayouts(const Subject& subject, const Samples& samples, const Call& call,
                  bool must_take) {
  for (const LayoutVariant& v : LayoutVariants(subject, call)) {
    SCOPED_TRACE(v.call.name);
    const Outcome got = Run(subject, v.call), want = Run(subject, v.plain);
    if (subject->is_view && !got.status.ok()) continue;  // some strides allow no view
    if (!must_take && Refused(got)) continue;
    EXPECT_EQ(got.status.ok(), want.status.ok()) << got.error << want.error;
    if (!got.status.ok() || !want.status.ok()) continue;
    ExpectSpecs(subject, v.call, got.outputs());
    if (!samples.random) ExpectSameValues(subject, samples, v.call, got, want);
  }
}

// Returns whether the operation took the call.
bool CheckCall(const Subject& subject, const Samples& samples, const Call& call, bool values,
               bool must_take) {
  const Outcome got = Run(subject, call);
  if (!must_take && Refused(got)) return false;
  EXPECT_TRUE(got.status.ok()) << got.error;
  if (!got.status.ok()) return true;
  ExpectSpecs(subject, call, got.outputs());
  if (values) ExpectReference(subject, samples, call, got);
  if (values || samples.random) CheckLayouts(subject, samples, call, must_take);
  return true;
}

}  // namespace

void CheckForward(const Subject& subject, const Samples& samples) {
  const OpDef& op = subject;
  ASSERT_FALSE(samples.samples.empty()) << "no samples";
  ASSERT_TRUE(samples.random || samples.reference) << "no reference";
  std::vector<bool> reached(op.kernels.size(), false);
  for (const Sample& sample : samples.samples) {
    const bool values = sample.check_values && !samples.random;
    for (const Call& call : DTypeVariants(subject, sample)) {
      SCOPED_TRACE(call.name);
      if (op.kernels.empty()) CheckCall(subject, samples, call, values, true);
      for (size_t k = 0; k < op.kernels.size(); ++k) {
        if (op.kernels[k].device != DeviceType::kCpu) continue;
        SCOPED_TRACE(absl::StrCat("kernel ", std::string(op.kernels[k].name)));
        const bool last =
            std::none_of(op.kernels.begin() + static_cast<std::ptrdiff_t>(k) + 1, op.kernels.end(),
                         [](const Kernel& later) { return later.device == DeviceType::kCpu; });
        if (CheckCall(WithKernel(op, op.kernels[k]), samples, call, values, last)) {
          reached[k] = true;
        }
      }
    }
  }
  for (size_t k = 0; k < op.kernels.size(); ++k) {
    EXPECT_TRUE(reached[k] || !RunsHere(op.kernels[k]))
        << "no sample reaches kernel " << op.kernels[k].name;
  }
}

}  // namespace firn::testing
