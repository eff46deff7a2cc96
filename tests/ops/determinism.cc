// The same call twice, and with one thread and two, on the samples and in f32 on the large ones.

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "firn/device/parallel.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/shape/convert.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

// Large samples beyond this would take seconds.
constexpr double kMaxFlops = 1e9;

class Threads {
 public:
  explicit Threads(int n) : before_(NumThreads()) { SetNumThreads(n); }
  ~Threads() { SetNumThreads(before_); }

 private:
  int before_;
};

Outcome RunWith(int threads, const Subject& subject, const Call& call) {
  Threads t(threads);
  return Run(subject, call);
}

void ExpectReproducible(const Subject& subject, const Samples& samples, const Call& call) {
  SCOPED_TRACE(call.name);
  const Outcome one = RunWith(1, subject, call), two = RunWith(2, subject, call),
                again = RunWith(2, subject, call);
  ASSERT_TRUE(one.status.ok()) << one.error;
  ASSERT_EQ(two.results.size(), again.results.size());
  for (size_t i = 0; i < two.results.size(); ++i) {
    EXPECT_TRUE(SameBits(two.results[i], again.results[i])) << "result " << i << " of two runs";
    EXPECT_TRUE(Near(two.results[i], one.results[i],
                     ToleranceFor(samples, one.results[i].dtype(), call.inputs)))
        << "result " << i << " with two threads and with one";
  }
}

// f64 samples as the f32 calls that programs make.
Call InF32(const Sample& s) {
  NoGradScope no_grad;
  Call c{absl::StrCat("large: ", s.name), s.inputs, s.attrs};
  for (Tensor& t : c.inputs) {
    if (t.defined() && t.dtype() == DType::kF64) t = Cast(t, DType::kF32);
  }
  return c;
}

}  // namespace

void CheckDeterminism(const Subject& subject, const Samples& samples) {
  for (const Sample& sample : samples.samples) {
    ExpectReproducible(subject, samples, {sample.name, CopiesOf(sample.inputs), sample.attrs});
  }
  for (const Sample& sample : samples.large) {
    if (sample.flops <= kMaxFlops) ExpectReproducible(subject, samples, InF32(sample));
  }
}

}  // namespace firn::testing
