#include "tensor/pending.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tensor/ops/full.h"

namespace firn {
namespace {

struct Owner final : PendingOwner {
  std::string PendingName() const override { return "net.fc.weight"; }
  std::string PendingShape() const override { return "[4, ?]"; }
};

// Not "[]", which would be an empty tensor.
TEST(PendingTest, PrintsWhatIsKnown) {
  const Owner owner;
  const Tensor weight = MakePending(DType::kF32, Device::Cpu(), &owner);
  std::ostringstream text;
  text << weight;
  EXPECT_EQ(text.str(), "net.fc.weight f32 [4, ?], pending until the first forward of its module");
  Disown(weight);
  EXPECT_EQ(weight.ToString(), "f32, pending until the first forward of its module");
}

TEST(PendingTest, PrintsItsElementsOnceItHasThem) {
  const Owner owner;
  const Tensor weight = MakePending(DType::kF32, Device::Cpu(), &owner);
  Materialize(weight, Ones({2}));
  EXPECT_EQ(weight.ToString(), "[1. 1.]");
}

}  // namespace
}  // namespace firn
