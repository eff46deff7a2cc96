// The bar's text, with a clock that the test sets.
#include "firn/io/progress/progress.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Fixture {
  std::ostringstream out;
  double now = 100;
  ProgressOptions Options(bool terminal) {
    return {.label = "epoch 1", .out = &out, .terminal = terminal, .width = 10, .clock = [this] {
              return now;
            }};
  }
};

TEST(ProgressTest, DrawsOneLineAnewOnATerminal) {
  Fixture f;
  {
    ProgressMeter meter(4, f.Options(true));
    meter.Note("loss 0.5");
    f.now += 1;
    meter.Step();
    EXPECT_EQ(f.out.str(), "\repoch 1 [==>       ] 1/4  25.0%  1 it/s  ETA 0:03  loss 0.5");
    meter.Note("");
    f.now += 0.05;  // too soon to draw again
    meter.Step();
    f.now += 0.95;
    meter.Step();
    f.now += 0.01;
    meter.Step();  // the last one is always drawn
  }
  EXPECT_EQ(f.out.str(),
            "\repoch 1 [==>       ] 1/4  25.0%  1 it/s  ETA 0:03  loss 0.5"
            "\repoch 1 [=======>  ] 3/4  75.0%  1.5 it/s  ETA 0:01        "
            "\repoch 1 [==========] 4/4  100.0%  1.99 it/s  in 0:03\n");
}

// The text that a loop of 1000 steps writes to a file.
std::string LogOf(int64_t log_lines) {
  Fixture f;
  ProgressOptions options = f.Options(false);
  options.log_lines = log_lines;
  ProgressMeter meter(1000, options);
  for (int i = 0; i < 1000; ++i) {
    f.now += 9;
    meter.Step();
  }
  return f.out.str();
}

TEST(ProgressTest, PrintsOnePlainLineElsewhere) {
  Fixture f;
  {
    ProgressMeter meter(2, f.Options(false));
    f.now += 1;
    meter.Step();
    EXPECT_EQ(f.out.str(), "");
    f.now += 1;
    meter.Step();
  }
  EXPECT_EQ(f.out.str(), "epoch 1 2/2  100.0%  1 it/s  in 0:02\n");
}

TEST(ProgressTest, PrintsAsManyPlainLinesAsAreAskedFor) {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(LogOf(0), "");
  EXPECT_EQ(lines(LogOf(7)), 7);
  EXPECT_EQ(lines(LogOf(5000)), 1000);
  const std::string text = LogOf(10);
  EXPECT_EQ(lines(text), 10);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, HasSubstr("epoch 1 100/1000  10.0%  0.1111 it/s  ETA 2:15:00\n"));
  EXPECT_THAT(text, HasSubstr("epoch 1 1000/1000  100.0%  0.1111 it/s  in 2:30:00\n"));
}

TEST(ProgressTest, RefusesOptionsThatMakeNoSense) {
  const auto error = [](const ProgressOptions& options) {
    return testing::ErrorOf([&] { ProgressMeter(3, options); });
  };
  EXPECT_EQ(error({.out = nullptr}), "progress bar: the stream is null");
  EXPECT_EQ(error({.log_lines = -1}), "progress bar: log_lines is -1 (want >= 0)");
  EXPECT_EQ(error({.width = -1}), "progress bar: width is -1 (want >= 0)");
}
TEST(ProgressTest, CanBeQuiet) {
  Fixture f;
  ProgressOptions options = f.Options(true);
  options.quiet = true;
  {
    ProgressMeter meter(2, options);
    meter.Step();
    meter.Step();
  }
  EXPECT_EQ(f.out.str(), "");
}

TEST(ProgressTest, GoesThroughAnyRange) {
  Fixture f;
  std::vector<int> numbers = {1, 2, 3};
  int sum = 0;
  for (const int n : ProgressBar(numbers, f.Options(false))) sum += n;
  EXPECT_EQ(sum, 6);
  EXPECT_THAT(f.out.str(), HasSubstr("3/3  100.0%"));
}

TEST(ProgressTest, CountsEachLoopAnew) {
  Fixture f;
  std::vector<int> numbers = {1, 2};
  {
    auto bar = ProgressBar(numbers, f.Options(true));
    for (int loop = 0; loop < 2; ++loop) {
      for (const int n : bar) f.now += n;
    }
  }
  const std::string epoch =
      "\repoch 1 [=====>    ] 1/2  50.0%  1 it/s  ETA 0:01"
      "\repoch 1 [==========] 2/2  100.0%  0.6667 it/s  in 0:03\n";
  EXPECT_EQ(f.out.str(), epoch + epoch);
}

TEST(ProgressTest, GoesThroughALoader) {
  Fixture f;
  DataLoader loader(FromTensors(FromValues({1.f, 2.f, 3.f}), FromValues({4.f, 5.f, 6.f})),
                    {.batch = 2});
  float sum = 0;
  auto bar = ProgressBar(loader, f.Options(false));
  for (auto [x, y] : bar) {
    bar.Note("note");
    for (const float v : x.ToVector<float>()) sum += v;
    for (const float v : y.ToVector<float>()) sum += v;
  }
  EXPECT_EQ(sum, 21);
  EXPECT_THAT(f.out.str(), HasSubstr("2/2  100.0%"));
  EXPECT_THAT(f.out.str(), HasSubstr("  note\n"));
}

TEST(ProgressTest, ALoopThatGoesOnInsideAnEpochCountsFromThere) {
  Fixture f;
  const Tensor numbers = FromValues({1.f, 2.f, 3.f, 4.f});
  DataLoader loader(FromTensors(numbers, numbers), {.batch = 1});
  loader.SetPosition({.epoch = 0, .batch = 2});
  for (const Sample& s : ProgressBar(loader, f.Options(true))) {
    f.now += s.input.Item() > 0 ? 2 : 0;
  }
  EXPECT_EQ(f.out.str(),
            "\repoch 1 [=======>  ] 3/4  75.0%  0.5 it/s  ETA 0:02"
            "\repoch 1 [==========] 4/4  100.0%  0.5 it/s  in 0:04\n");
  ProgressMeter meter(10, f.Options(true));
  meter.Restart(9);
  f.now += 1;
  meter.Step();
  EXPECT_THAT(f.out.str(), HasSubstr("10/10  100.0%  1 it/s  in 0:01"));
}

TEST(ProgressTest, SaysNothingAboutALoopThatBreaks) {
  Fixture f;
  std::vector<int> numbers(100);
  for (const int n : ProgressBar(numbers, f.Options(true))) {
    static_cast<void>(n);
    break;
  }
  EXPECT_EQ(f.out.str(), "");
}

}  // namespace
}  // namespace firn::io
