// Statuses made of parts, and the macros that hand them on.
#include "firn/device/status_macros.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace firn {
namespace {

absl::StatusOr<std::unique_ptr<int>> Half(int x) {
  FIRN_RETURN_IF(x % 2 != 0, InvalidArgument("half: ", x, " is odd"));
  return std::make_unique<int>(x / 2);
}

absl::StatusOr<int> Quarter(int x) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(x));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<int> quarter, Half(*half));
  return *quarter;
}

absl::Status Check(const absl::Status& status, bool* went_on) {
  FIRN_RETURN_IF_ERROR(status);
  *went_on = true;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, AssignOrReturnMovesTheValueOut) { EXPECT_EQ(*Quarter(12), 3); }

TEST(StatusMacrosTest, AssignOrReturnLeavesWithTheFirstError) {
  EXPECT_EQ(Quarter(7).status(), InvalidArgument("half: 7 is odd"));
  EXPECT_EQ(Quarter(6).status(), InvalidArgument("half: 3 is odd"));
}

TEST(StatusMacrosTest, AssignOrReturnTakesCommas) {
  const auto sum = []() -> absl::StatusOr<int> {
    FIRN_ASSIGN_OR_RETURN(const auto pair, (absl::StatusOr<std::pair<int, int>>({1, 2})));
    FIRN_ASSIGN_OR_RETURN(const auto other, absl::StatusOr<std::pair<int, int>>({3, 4}));
    return pair.first + other.second;
  };
  EXPECT_EQ(*sum(), 5);
}

TEST(StatusMacrosTest, ReturnIfErrorGoesOnOnlyWhenOk) {
  bool went_on = false;
  EXPECT_EQ(Check(Internal("broken"), &went_on), Internal("broken"));
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(Check(absl::OkStatus(), &went_on).ok());
  EXPECT_TRUE(went_on);
}

TEST(StatusMacrosTest, ReturnIfMakesTheStatusOnlyWhenNeeded) {
  int made = 0;
  const auto refuse_if = [&made](bool condition) -> absl::Status {
    FIRN_RETURN_IF(condition, (++made, OutOfRange("refused")));
    return absl::OkStatus();
  };
  EXPECT_TRUE(refuse_if(false).ok());
  EXPECT_EQ(made, 0);
  EXPECT_EQ(refuse_if(true), OutOfRange("refused"));
  EXPECT_EQ(made, 1);
}

TEST(StatusMacrosTest, PutsPartsTogether) {
  const std::string text = "abc";
  EXPECT_EQ(InvalidArgument("x is ", 3, " of ", 2.5, ", ", text, std::string_view(text).substr(1))
                .message(),
            "x is 3 of 2.5, abcbc");
  EXPECT_EQ(Internal().message(), "");
}

TEST(StatusMacrosTest, EachHelperHasItsCode) {
  const std::vector<std::pair<absl::Status, absl::StatusCode>> made = {
      {InvalidArgument("m"), absl::StatusCode::kInvalidArgument},
      {FailedPrecondition("m"), absl::StatusCode::kFailedPrecondition},
      {OutOfRange("m"), absl::StatusCode::kOutOfRange},
      {ResourceExhausted("m"), absl::StatusCode::kResourceExhausted},
      {DataLoss("m"), absl::StatusCode::kDataLoss},
      {NotFound("m"), absl::StatusCode::kNotFound},
      {Unimplemented("m"), absl::StatusCode::kUnimplemented},
      {Unavailable("m"), absl::StatusCode::kUnavailable},
      {Internal("m"), absl::StatusCode::kInternal},
  };
  for (const auto& [status, code] : made) EXPECT_EQ(status.code(), code);
}

}  // namespace
}  // namespace firn
