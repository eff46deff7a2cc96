// A layer whose options may all be left out is made without mentioning them: `nn::BatchNorm2d b;`.

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "firn/nn/layers.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

template <class L>
void Check(const char* name) {
  const std::string error = testing::ErrorOf([] {
    if constexpr (std::is_default_constructible_v<L>) {
      L();
    } else {
      L(typename L::Options());
    }
  });
  EXPECT_EQ(error.empty(), std::is_default_constructible_v<L>)
      << name << " without options: " << (error.empty() ? "works" : error);
}

TEST(DefaultOptionsTest, LayersThatNeedNoneAreMadeWithoutAny) {
  // One line for each layer class that the headers of nn declare: FIRN_LAYER(Conv2d).
#define FIRN_LAYER(L) Check<L>(#L);
#include "firn/nn/layer_types.inc"
#undef FIRN_LAYER
}

}  // namespace
}  // namespace firn::nn
