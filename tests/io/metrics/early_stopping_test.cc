#include "firn/io/metrics/early_stopping.h"

#include <cmath>

#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::HasSubstr;

TEST(EarlyStoppingTest, StopsAfterPatienceWithoutImprovement) {
  EarlyStopping stopping({.patience = 2});
  EXPECT_FALSE(stopping.Update(1.0));
  EXPECT_TRUE(stopping.improved());
  EXPECT_FALSE(stopping.Update(1.0));
  EXPECT_FALSE(stopping.improved());
  EXPECT_FALSE(stopping.Update(0.5));
  EXPECT_FALSE(stopping.Update(0.6));
  EXPECT_TRUE(stopping.Update(0.7));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_TRUE(stopping.Update(0.1));  // stays so
  EXPECT_EQ(stopping.best(), 0.1);
  stopping.Reset();
  EXPECT_EQ(stopping.best_update(), -1);
  EXPECT_FALSE(stopping.improved());
}

TEST(EarlyStoppingTest, MaximizesByMoreThanMinDelta) {
  EarlyStopping stopping({.maximize = true, .patience = 2, .min_delta = 0.1});
  EXPECT_FALSE(stopping.Update(0.5));
  EXPECT_FALSE(stopping.Update(0.59));
  EXPECT_EQ(stopping.best(), 0.5);
  EXPECT_FALSE(stopping.Update(0.7));
  EXPECT_EQ(stopping.best_update(), 2);
}

TEST(EarlyStoppingTest, StopsOnNanUnlessToldNotTo) {
  EXPECT_TRUE(EarlyStopping().Update(std::nan("")));
  EarlyStopping patient({.patience = 2, .stop_on_nan = false});
  EXPECT_FALSE(patient.Update(std::nan("")));
  EXPECT_TRUE(patient.Update(std::nan("")));
}

TEST(EarlyStoppingTest, GoesOnFromItsState) {
  EarlyStopping first({.patience = 2}), second({.patience = 2});
  first.Update(1.0);
  first.Update(2.0);
  second.LoadStateDict(first.state_dict());
  EXPECT_EQ(second.best(), 1);
  EXPECT_TRUE(second.Update(2.0));
  second.LoadStateDict(EarlyStopping().state_dict());
  EXPECT_FALSE(second.should_stop());

  // After a stop, more patience lets it go on, unless a NaN may have stopped it.
  ASSERT_TRUE(first.Update(2.0));
  EarlyStopping patient({.patience = 4, .stop_on_nan = false});
  patient.LoadStateDict(first.state_dict());
  EXPECT_FALSE(patient.should_stop());
  EXPECT_FALSE(patient.Update(2.0));
  EXPECT_TRUE(patient.Update(2.0));
  EarlyStopping wary({.patience = 4});
  wary.LoadStateDict(first.state_dict());
  EXPECT_TRUE(wary.should_stop());

  StateDict wrong = first.state_dict();
  Tensor(wrong["best_update"]).Fill(7);
  EXPECT_THAT(ErrorOf([&] { first.LoadStateDict(wrong); }), HasSubstr("of update 7 of 3"));
  EXPECT_THAT(ErrorOf([&] { first.LoadStateDict({}); }), HasSubstr("best"));
  EXPECT_TRUE(first.Update(2.0));
}

TEST(EarlyStoppingTest, RefusesOptionsThatMakeNoSense) {
  EXPECT_THAT(ErrorOf([] { EarlyStopping({.patience = 0}); }), HasSubstr("patience is 0"));
  EXPECT_THAT(ErrorOf([] { EarlyStopping({.min_delta = std::nan("")}); }),
              HasSubstr("min_delta is nan"));
}

}  // namespace
}  // namespace firn::io
