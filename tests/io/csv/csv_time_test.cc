// A table with four times as much of anything that repeats takes about four times as long.
#include <algorithm>
#include <ctime>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/data/csv_rows.h"
#include "gtest/gtest.h"
#include "tests/count_instructions.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

std::string Repeated(const std::string& text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

// Reads the file in each way there is.
void ReadAll(const std::string& path) {
  static_cast<void>(TryLoadCsv(path, {.missing = CsvMissing::kMean}));
  static_cast<void>(TryLoadCsv(path, {.heading = true, .missing = CsvMissing::kDropRow}));
  static_cast<void>(TryLoadCsvWords(path, 0));
  static_cast<void>(TryLoadCsvColumns(
      path, {.heading = true, .dtypes = {{0, DType::kF64}}, .missing = CsvMissing::kDropRow}));
  static_cast<void>(testing::ErrorOf([&] { CsvRows(path)->Get(0); }));
  for (const CsvMissing missing : {CsvMissing::kMean, CsvMissing::kDropRow}) {
    static_cast<void>(testing::ErrorOf([&] { CsvRows(path, {.missing = missing}); }));
    static_cast<void>(
        testing::ErrorOf([&] { CsvRows(path, {.one_hot = {0}, .missing = missing})->Get(0); }));
  }
}

double SecondsOf(const std::string& path) {
  const std::clock_t begin = std::clock();
  ReadAll(path);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Whether reading the second file, which has four times as much, takes less than nine times as long
// as the first. Other work of the machine makes times longer and never shorter, so the least times
// of many rounds count, and the rounds end when these are near enough. Quadratic is 16 in all of
// them.
::testing::AssertionResult TakesAboutFourTimes(const std::string& file, const std::string& more) {
  constexpr int kRounds = 12;
  // A first time that is too long would let anything pass, so it is measured three times at least.
  double once = std::min(SecondsOf(file), SecondsOf(file)), four_times = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    once = std::min(once, SecondsOf(file));
    four_times = std::min(four_times, SecondsOf(more));
    // Times below this are too short to be compared.
    if (four_times < std::max(0.05, once) * 9) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << once << " seconds, then " << four_times;
}

// Counts instructions, which are the same each time, for a small table, and measures the time for a
// large one, since code that searches many bytes at a time would hide among the instructions.
void ExpectLinear(const char* what, int n, const std::function<std::string(int)>& text) {
  SCOPED_TRACE(what);
  const auto file = [&](int k) {
    const std::string path = TempPath(absl::StrCat("time", k, ".csv"));
    WriteFile(path, text(k));
    return path;
  };
  const auto count = [&](int k) {
    const std::string t = text(k);
    const auto parse = [&] {
      static_cast<void>(TryParseCsv(t, "t.csv", {.missing = CsvMissing::kMean}));
    };
    parse();
    return testing::InstructionsIn(parse);
  };
  // Quadratic is 16. Sorting, and tables that grow, take a little more than 4.
  const auto once = count(n), four_times = count(4 * n);
  if (once && four_times) {
    EXPECT_LT(*four_times, *once * 5) << *once << ", " << *four_times;
  }
  EXPECT_TRUE(TakesAboutFourTimes(file(300 * n), file(1200 * n)));
}

TEST(CsvTimeTest, IsLinearInWhatRepeats) {
  ExpectLinear("rows", 40, [](int n) { return "x,y\n" + Repeated("1,2\n", n); });
  ExpectLinear("lone returns", 40, [](int n) { return "x,y\r" + Repeated("1,2\r", n); });
  ExpectLinear("quoted fields", 30, [](int n) { return "x,y\n" + Repeated("\"1\",\"2\"\n", n); });
  ExpectLinear("quotes in quotes", 200, [](int n) { return "x\n\"" + Repeated("\"\"", n) + "\""; });
  ExpectLinear("quotes in text", 200, [](int n) { return "x\na" + Repeated("\" ", n) + "\n1\n"; });
  ExpectLinear("lines in quotes", 200, [](int n) { return "x\n\"" + Repeated("\r\n", n) + "\""; });
  ExpectLinear("quotes never closed", 100,
               [](int n) { return "x\n" + Repeated("\"\n", 2 * n + 1); });
  ExpectLinear("empty cells", 40, [](int n) { return "x,y\n" + Repeated(",\n", n) + "1,1\n"; });
  ExpectLinear("empty lines", 200, [](int n) { return "x\n1\n" + Repeated("\n", n); });
  ExpectLinear("blanks", 300, [](int n) { return "x,y\n1," + Repeated(" ", n) + "2\n"; });
  ExpectLinear("a long line", 300, [](int n) { return "x\n" + Repeated("a", n) + "\n"; });
  ExpectLinear("columns", 40, [](int n) {
    std::string names;
    for (int i = 0; i < n; ++i) absl::StrAppend(&names, i == 0 ? "" : ",", "c", i);
    return names + "\n1" + Repeated(",1", n - 1) + "\n";
  });
  ExpectLinear("comments", 40,
               [](int n) { return "x" + Repeated(",#", n) + "\n1" + Repeated(",a", n) + "\n"; });
  ExpectLinear("words", 40, [](int n) {
    std::string text = "x\n";
    for (int i = 0; i < n; ++i) absl::StrAppend(&text, "w", i * 7919 % n, "\n");
    return text;
  });
}

TEST(CsvTimeTest, IsLinearInOptionsToo) {
  const auto count = [](int n) {
    CsvOptions options;
    std::string names, row;
    for (int i = 0; i < n; ++i) {
      const std::string name = absl::StrCat("column", i);
      absl::StrAppend(&names, i == 0 ? "" : ",", name);
      absl::StrAppend(&row, i == 0 ? "" : ",", "w", i);
      options.columns.emplace_back(name);
      options.categories[name] = {absl::StrCat("w", i)};
    }
    const std::string text = names + "\n" + row + "\n";
    EXPECT_TRUE(TryParseCsv(text, "t.csv", options).ok());
    for (int i = 0; i < n; i += 2) options.dtypes[absl::StrCat("column", i)] = DType::kI64;
    EXPECT_TRUE(TryParseCsvColumns(text, "t.csv", options).ok());
    return testing::InstructionsIn(
        [&] { static_cast<void>(TryParseCsvColumns(text, "t.csv", options)); });
  };
  const auto once = count(40), four_times = count(160);
  if (!once || !four_times) GTEST_SKIP() << "instructions cannot be counted here";
  EXPECT_LT(*four_times, *once * 5) << *once << ", " << *four_times;
}

}  // namespace
}  // namespace firn::io
