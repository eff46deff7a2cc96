// Making a module of many children and finding each take a time that grows with their number.

#include "tests/growth.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "firn/nn/module.h"

namespace firn::nn {
namespace {

using testing::GrowthOf;
using testing::kLinear;

struct Part : Module {};

struct ListOfParts : Module {
  using Module::Add;
};

std::string NameOf(int i) { return "part" + std::to_string(i); }

std::unique_ptr<ListOfParts> WithParts(int n) {
  auto list = std::make_unique<ListOfParts>();
  for (int i = 0; i < n; ++i) list->Add<Part>(NameOf(i));
  return list;
}

TEST(ModuleGrowthTest, ManyChildrenAreMade) {
  EXPECT_LT(GrowthOf([](int n) { WithParts(n); }, 2000, kLinear), kLinear);
}

TEST(ModuleGrowthTest, ManyChildrenAreFound) {
  const auto run = [](int n) {
    const std::unique_ptr<ListOfParts> list = WithParts(n);
    for (int i = 0; i < n; ++i) EXPECT_EQ(list->FindChild(NameOf(i)), &list->child(size_t(i)));
  };
  EXPECT_LT(GrowthOf(run, 2000, kLinear), kLinear);
}

}  // namespace
}  // namespace firn::nn
