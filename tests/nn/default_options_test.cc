// A layer whose options may all be left out is made without mentioning them: `nn::BatchNorm2d b;`.

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/bilinear.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/embedding.h"
#include "firn/nn/fold.h"
#include "firn/nn/linear.h"
#include "firn/nn/loss.h"
#include "firn/nn/norm.h"
#include "firn/nn/padding.h"
#include "firn/nn/pooling.h"
#include "firn/nn/prelu.h"
#include "firn/nn/res_unit.h"
#include "firn/nn/sequential.h"
#include "firn/nn/shape_layers.h"
#include "firn/nn/standardize.h"
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
