// Every check on every registered operation and every composite, as tests named
// Conformance/<check>.<operation>:
//   conformance_test --gtest_filter='*.softmax'
//   conformance_test --gtest_filter='Conformance/gradient.*'
// After each test the amount of live tensor memory must be that from before it.

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "firn/device/cpu_allocator.h"
#include "firn/tensor/op.h"
#include "firn/tensor/testing/samples.h"
#include "tests/ops/checks.h"

namespace firn::testing {
namespace {

class ConformanceTest : public ::testing::Test {
 public:
  // An operation, or null if the subject is a composite.
  ConformanceTest(const Check& check, const OpDef* op, std::string name)
      : check_(check), op_(op), name_(std::move(name)) {}

  void TestBody() override {
    const int64_t before = CpuAllocator().stats().live_bytes;
    {
      const std::unique_ptr<Samples> samples = SamplesOf(name_, check_.run == CheckDeterminism);
      ASSERT_NE(samples, nullptr);
      ASSERT_TRUE(op_ != nullptr || !samples->functions.empty())
          << "a composite without a function";
      check_.run(op_ != nullptr ? Subject(*op_) : Subject::Composite(*samples), *samples);
    }
    EXPECT_EQ(CpuAllocator().stats().live_bytes, before) << "tensors are still alive";
  }

 private:
  const Check& check_;
  const OpDef* op_;
  std::string name_;
};

void RegisterChecks(const OpDef* op, const std::string& name) {
  for (const Check& check : kChecks) {
    ::testing::RegisterTest(absl::StrCat("Conformance/", check.name).c_str(), name.c_str(), nullptr,
                            nullptr, __FILE__, __LINE__, [=, &check]() -> ConformanceTest* {
                              return new ConformanceTest(check, op, name);
                            });
  }
}

void RegisterAll() {
  for (const OpDef* op : AllOps()) {
    // registry_test lists those that may have no samples.
    if (HasSamples(op->name)) RegisterChecks(op, std::string(op->name));
  }
  for (const std::string& name : Composites()) RegisterChecks(nullptr, name);
}

}  // namespace
}  // namespace firn::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  firn::testing::RegisterAll();
  return RUN_ALL_TESTS();
}
