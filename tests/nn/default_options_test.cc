// A layer whose options may all be left out is made without mentioning them: `nn::BatchNorm2d b;`.

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "nn/activation.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/fold.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "nn/norm.h"
#include "nn/padding.h"
#include "nn/pooling.h"
#include "nn/prelu.h"
#include "nn/res_unit.h"
#include "nn/sequential.h"
#include "nn/shape_layers.h"
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
#include "tests/nn/layer_types.inc"
#undef FIRN_LAYER
}

}  // namespace
}  // namespace firn::nn
