// Files that grow, on a disk that fills up, and while other programs remove them.
#include "firn/io/monitors/internal/append_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <sstream>

#include "firn/io/monitors/internal/open_records.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/number_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using ::testing::HasSubstr;

using Mode = AppendFile::Mode;

AppendFile Open(const std::string& path, Mode mode) {
  absl::StatusOr<AppendFile> file = AppendFile::Open(path, mode);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST(AppendFileTest, GrowsByRecords) {
  const std::string path = TempPath("grows");
  WriteFile(path, "old");
  {
    AppendFile file = Open(path, Mode::kTruncate);
    EXPECT_TRUE(file.Append("one\n").ok());
    EXPECT_EQ(ReadFile(path), "one\n");  // at once
  }
  AppendFile file = Open(path, Mode::kAppend);
  EXPECT_EQ(file.size(), 4);
  EXPECT_TRUE(file.Append("two\n").ok());
  EXPECT_EQ(ReadFile(path), "one\ntwo\n");
  EXPECT_TRUE(file.Truncate(4).ok());
  AppendFile moved = std::move(file);
  EXPECT_TRUE(moved.Append("3\n").ok());
  EXPECT_EQ(ReadFile(path), "one\n3\n");
  EXPECT_EQ(file.Append("4\n").code(), absl::StatusCode::kFailedPrecondition);
}

TEST(AppendFileTest, NamesThePathItCannotOpen) {
  const std::string path = TempPath("exists");
  WriteFile(path, "");
  EXPECT_EQ(AppendFile::Open(path, Mode::kCreateNew).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(AppendFile::Open(path + "/below", Mode::kAppend).status().ToString(),
              HasSubstr("exists/below"));
  EXPECT_FALSE(AppendFile::Open(::testing::TempDir(), Mode::kAppend).ok());
  EXPECT_FALSE(AppendFile::Open("", Mode::kAppend).ok());
  const std::string pipe = TempPath("pipe");
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(AppendFile::Open(pipe, Mode::kAppend).status().ToString(),
              HasSubstr("not a regular file"));
}

TEST(AppendFileTest, RemovedAndReplacedFilesAreErrors) {
  const std::string path = TempPath("removed");
  AppendFile file = Open(path, Mode::kTruncate);
  EXPECT_TRUE(file.Append("one\n").ok());
  std::filesystem::remove(path);
  EXPECT_EQ(file.Append("two\n").code(), absl::StatusCode::kNotFound);
  WriteFile(path, "another's");
  EXPECT_EQ(file.Append("two\n").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(path), "another's");
}

// A limit on the size of files acts as a disk that is full.
TEST(AppendFileTest, TakesBackWhatAFullDiskCutOff) {
  const std::string path = TempPath("full");
  AppendFile file = Open(path, Mode::kTruncate);
  ASSERT_TRUE(file.Append("one\n").ok());
  struct rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 6, old.rlim_max };
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = file.Append("two, which is longer\n");
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_EQ(ReadFile(path), "one\n");
  EXPECT_TRUE(file.Append("three\n").ok());
  EXPECT_EQ(ReadFile(path), "one\nthree\n");
}

// The child appends "0\n", "1\n", ... until it is killed; the next one goes on where it stopped.
TEST(AppendFileTest, AKilledProcessLosesNoWholeRecord) {
  const std::string path = TempPath("killed");
  WriteFile(path, "");
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      absl::StatusOr<AppendFile> file =
          OpenRecords(path, SplitLine, [](std::string_view) { return true; });
      if (!file.ok()) _exit(1);
      const std::string text = ReadFile(path);
      for (auto i = std::count(text.begin(), text.end(), '\n');; ++i) {
        if (!file->Append(std::to_string(i) + "\n").ok()) _exit(1);
      }
    }
    ASSERT_GT(child, 0);
    usleep(static_cast<useconds_t>(2000 + 300 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    std::istringstream text(ReadFile(path));
    std::string line;
    for (int64_t i = 0; std::getline(text, line) && !text.eof(); ++i) {
      ASSERT_EQ(line, std::to_string(i));
    }
  }
  EXPECT_GT(ReadFile(path).size(), 0u);
}

TEST(LineFileTest, GoesOnAfterTheLastWholeRecordThatStays) {
  const std::string path = TempPath("lines");
  const auto keep = [](std::string_view line) { return line != "c\n"; };
  WriteFile(path, "a\nb\nc\nd\n");
  EXPECT_EQ(OpenRecords(path, SplitLine, keep)->size(), 4);
  EXPECT_EQ(ReadFile(path), "a\nb\n");
  WriteFile(path, "a\nb");
  EXPECT_TRUE(OpenRecords(path, SplitLine, keep)->Append("e\n").ok());
  EXPECT_EQ(ReadFile(path), "a\ne\n");
  EXPECT_FALSE(OpenRecords(path, SplitLine, keep, [] { return absl::CancelledError(); }).ok());
  EXPECT_EQ(ReadFile(path), "a\ne\n");
  EXPECT_EQ(OpenRecords(path, SplitLine, {})->size(), 0);
}

TEST(LineFileTest, SplitsAndParses) {
  EXPECT_EQ(SplitCsvRecord("a,\"b\n\"\"\nc\",d\ne"), 13u);
  EXPECT_EQ(SplitCsvRecord("a,\"b\n"), 0u);
  EXPECT_EQ(ParseNumber("+1e-3"), 1e-3);
  EXPECT_EQ(ParseNumber("1x"), std::nullopt);
  EXPECT_EQ(ParseNumber("+-1"), std::nullopt);
  EXPECT_EQ(ParseNumber(""), std::nullopt);
  EXPECT_EQ(ParseInteger("-12"), -12);
  EXPECT_EQ(ParseInteger("1.5"), std::nullopt);
  EXPECT_EQ(FormatNumber(-std::numeric_limits<double>::quiet_NaN(), 6), "nan");
  EXPECT_EQ(FormatNumber(1 / 3.0, 6), "0.333333");
}

}  // namespace
}  // namespace firn::io::internal
