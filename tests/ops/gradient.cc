// First and second gradients against central differences in f64, and first ones that are recorded
// against those that are not; then first gradients in the other dtypes, for one wanted input at a
// time, and for incoming gradients in other layouts, all against the gradient of the plain call.
// Operations that draw start each call at the same position of the generator, so that they are
// functions like others.

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/shape/convert.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

// Tighter than the library's defaults: samples are of moderate size, so differences are good to
// nine digits.
constexpr GradCheckOptions kFirst{.eps = 1e-6, .atol = 1e-7, .rtol = 1e-6, .max_elements = 64};
constexpr GradCheckOptions kSecond{.eps = 1e-6, .atol = 1e-6, .rtol = 1e-5, .max_elements = 24};

// Calls the subject as a function, without the results that have no gradient; inputs that it writes
// are copied for each call.
std::vector<Tensor> Outputs(const Subject& subject, std::vector<Tensor> inputs, AttrsRef attrs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (DeclOf(subject, i).inout) inputs[i] = CopyOf(inputs[i]);
  }
  const TensorList out = subject(inputs, attrs);
  std::vector<Tensor> differentiable;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!subject.output(i).constant) differentiable.push_back(out[i]);
  }
  return differentiable;
}

// The calls whose gradient can be checked: f64, with the wanted inputs marked.
template <class F>
void ForEachCall(const Subject& subject, const Samples& samples, F f) {
  if (!subject.differentiable()) return;
  int checked = 0;
  for (const Sample& sample : samples.samples) {
    if (!sample.check_gradient) continue;
    const std::vector<size_t> wanted = WantedGradients(subject, sample);
    std::optional<Call> call = InF64(subject, sample);
    if (wanted.empty() || !call) continue;
    SCOPED_TRACE(sample.name);
    for (size_t i : wanted) call->inputs[i].SetRequiresGrad();
    ++checked;
    f(*call, wanted);
  }
  EXPECT_GT(checked, 0) << "no sample checks the gradient";
}

// A smooth incoming gradient: 0.5, -0.6, 0.7, ...
Tensor SeedFor(const Tensor& output) {
  std::vector<double> values(static_cast<size_t>(output.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = (i % 2 == 0 ? 0.5 : -0.5) + 0.1 * static_cast<double>(i % 7);
  }
  NoGradScope no_grad;
  return Cast(Values(std::move(values), output.shape()), output.dtype());
}

using SeedLayout = Tensor (*)(const Tensor&);

// Gradients of the wanted inputs, recorded anew; the incoming ones in the given layout.
std::vector<Tensor> Gradients(const Subject& subject, const Call& call,
                              const std::vector<size_t>& wanted, SeedLayout layout,
                              bool create_graph = false) {
  std::vector<Tensor> inputs, leaves, roots;
  for (const Tensor& t : call.inputs) inputs.push_back(t.defined() ? t.Detach() : t);
  for (size_t i : wanted) leaves.push_back(inputs[i].SetRequiresGrad());
  GradOptions options{.create_graph = create_graph, .allow_unused = true};
  for (const Tensor& y : Outputs(subject, inputs, call.attrs.ref())) {
    if (!y.requires_grad()) continue;
    roots.push_back(y);
    options.seeds.push_back(layout(SeedFor(y)));
  }
  return Grad(roots, leaves, options);
}

void ExpectNear(const std::vector<Tensor>& got, const std::vector<Tensor>& want, Tolerance t) {
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].defined(), want[i].defined());
    if (!want[i].defined()) continue;
    EXPECT_TRUE(Near(got[i], want[i], t)) << "gradient " << i;
  }
}

void CheckOneAtATime(const Subject& subject, const Call& call, const std::vector<size_t>& wanted,
                     const std::vector<Tensor>& all) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    SCOPED_TRACE(absl::StrCat("only input ", wanted[k], " wants a gradient"));
    ExpectNear(Gradients(subject, call, {wanted[k]}, CopyOf), {all[k]}, {1e-12, 1e-14});
  }
}

void CheckSeedLayouts(const Subject& subject, const Call& call, const std::vector<size_t>& wanted,
                      const std::vector<Tensor>& all) {
  SCOPED_TRACE("incoming gradients in another layout");
  ExpectNear(Gradients(subject, call, wanted, Transposed), all, {1e-12, 1e-13});
  ExpectNear(Gradients(subject, call, wanted, WithGaps), all, {1e-12, 1e-13});
  const SeedLayout expanded_plain = [](const Tensor& t) { return CopyOf(Expanded(t)); };
  ExpectNear(Gradients(subject, call, wanted, Expanded),
             Gradients(subject, call, wanted, expanded_plain), {1e-12, 1e-13});
}

// The half type among the dtypes, which results have and incoming gradients are rounded to; `dtype`
// if there is none.
DType Narrowest(const Call& call, DType dtype) {
  for (const Tensor& t : call.inputs) {
    if (t.defined() && ComputeDType(t.dtype()) != t.dtype()) return t.dtype();
  }
  return dtype;
}

// Compares gradients in a dtype with f64 on the same rounded inputs.
void CheckDType(const Subject& subject, const Samples& samples, const Call& call,
                const std::vector<size_t>& wanted) {
  SCOPED_TRACE(call.name);
  Call wide = call;
  NoGradScope no_grad;
  for (Tensor& t : wide.inputs) {
    if (t.defined() && IsFloating(t.dtype())) t = Cast(t, DType::kF64);
  }
  GradScope record;
  const std::vector<Tensor> got = Gradients(subject, call, wanted, CopyOf);
  const std::vector<Tensor> want = Gradients(subject, wide, wanted, CopyOf);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].defined(), want[i].defined());
    if (!want[i].defined()) continue;
    EXPECT_EQ(got[i].dtype(), call.inputs[wanted[i]].dtype());
    // A gradient rule is made of operations.
    const Tolerance one = ToleranceFor(samples, Narrowest(call, got[i].dtype()), call.inputs);
    const Tolerance t = OfSeveral(one, want[i].ToVector<double>());
    RefTensor reference(want[i].shape());
    reference.values = want[i].ToVector<double>();
    EXPECT_TRUE(Near(got[i], reference, t)) << "gradient " << i;
  }
}

}  // namespace

void CheckGradient(const Subject& subject, const Samples& samples) {
  ForEachCall(subject, samples, [&](const Call& call, const std::vector<size_t>& wanted) {
    const auto fn = [&](const std::vector<Tensor>& in) {
      return Outputs(subject, in, call.attrs.ref());
    };
    if (samples.gradient_is_derivative) {
      const absl::Status status = GradCheck(fn, call.inputs, kFirst);
      EXPECT_TRUE(status.ok()) << status;
    }
    const std::vector<Tensor> all = Gradients(subject, call, wanted, CopyOf);
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!all[k].defined()) continue;
      EXPECT_EQ(all[k].shape(), call.inputs[wanted[k]].shape());
    }
    CheckOneAtATime(subject, call, wanted, all);
    CheckSeedLayouts(subject, call, wanted, all);
    if (samples.random) return;  // f32 draws other numbers than f64
    const Sample sample{call.name, CopiesOf(call.inputs), call.attrs};
    for (const Call& typed : DTypeVariants(subject, sample)) {
      if (typed.inputs[wanted[0]].dtype() != DType::kF64)
        CheckDType(subject, samples, typed, wanted);
    }
  });
}

void CheckSecondGradient(const Subject& subject, const Samples& samples) {
  if (!samples.second_gradient || !samples.gradient_is_derivative) return;
  ForEachCall(subject, samples, [&](const Call& call, const std::vector<size_t>& wanted) {
    // A rule may compute in another way if its own gradient is recorded.
    ExpectNear(Gradients(subject, call, wanted, CopyOf, /*create_graph=*/true),
               Gradients(subject, call, wanted, CopyOf), {1e-11, 1e-12});
    const auto fn = [&](const std::vector<Tensor>& in) {
      return Outputs(subject, in, call.attrs.ref());
    };
    const absl::Status status = GradGradCheck(fn, call.inputs, kSecond);
    EXPECT_TRUE(status.ok()) << status;
  });
}

}  // namespace firn::testing
