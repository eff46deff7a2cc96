#include "firn/tensor/pending.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "firn/device/inner.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/owner.h"

namespace firn {
namespace {

struct Owner final : TensorOwner {
  std::string OwnedName() const override { return "parameter net.fc.weight"; }
  std::string KnownShape() const override { return "[4, ?]"; }
  const Tensor* handle() const override { return nullptr; }
};

// Not "[]", which would be an empty tensor.
TEST(PendingTest, PrintsWhatIsKnown) {
  const Owner owner;
  const Tensor weight = MakePending(DType::kF32, Device::Cpu());
  Own(weight, &owner);
  std::ostringstream text;
  text << weight;
  EXPECT_EQ(text.str(),
            "parameter net.fc.weight f32 [4, ?], pending until the first forward of its module");
  Disown(weight, &owner);
  EXPECT_EQ(weight.ToString(), "f32, pending until the first forward of its module");
}

TEST(PendingTest, PrintsItsElementsOnceItHasThem) {
  const Tensor weight = MakePending(DType::kF32, Device::Cpu());
  Materialize(weight, Ones({2}));
  EXPECT_EQ(weight.ToString(), "[1. 1.]");
}

}  // namespace
}  // namespace firn
