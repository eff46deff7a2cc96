// Every check on every registered operation, as tests named Conformance/<check>.<operation>:
//   conformance_test --gtest_filter='*.softmax'
//   conformance_test --gtest_filter='Conformance/gradient.*'
// After each test as much tensor memory is live as before it.

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "device/cpu_allocator.h"
#include "tensor/op.h"
#include "tensor/samples.h"
#include "tests/ops/checks.h"

namespace firn::testing {
namespace {

class ConformanceTest : public ::testing::Test {
 public:
  ConformanceTest(const Check& check, const OpDef& op) : check_(check), op_(op) {}

  void TestBody() override {
    const int64_t before = CpuAllocator().stats().live_bytes;
    {
      const std::unique_ptr<Samples> samples = SamplesOf(op_.name, check_.run == CheckDeterminism);
      ASSERT_NE(samples, nullptr);
      check_.run(op_, *samples);
    }
    EXPECT_EQ(CpuAllocator().stats().live_bytes, before) << "tensors are still alive";
  }

 private:
  const Check& check_;
  const OpDef& op_;
};

void RegisterAll() {
  for (const OpDef* op : AllOps()) {
    if (!HasSamples(op->name)) continue;  // registry_test says which may go without
    for (const Check& check : kChecks) {
      ::testing::RegisterTest(
          absl::StrCat("Conformance/", check.name).c_str(), std::string(op->name).c_str(), nullptr,
          nullptr, __FILE__, __LINE__,
          [&check, op]() -> ConformanceTest* { return new ConformanceTest(check, *op); });
    }
  }
}

}  // namespace
}  // namespace firn::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  firn::testing::RegisterAll();
  return RUN_ALL_TESTS();
}
