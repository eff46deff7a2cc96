// The command line around the page.
#include "tools/firn/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "firn/io/monitors/monitor.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::firn::io::ReadFile;
using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::HasSubstr;
using ::testing::Not;

std::string NewFolder() {
  const std::string folder = TempPath("run");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(MonitorCommandTest, WritesAPageOnce) {
  const std::string folder = NewFolder();
  WriteFile(folder + "/loss.series.txt", "0 1\n1 0.5\n");
  const Outcome run = Firn({"monitor", folder});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, folder +
                         "/monitor.html: 1 file, 1 curve, 0 pictures, 0 histograms, 0 texts, 0"
                         " graphs\n");
  const std::string page = ReadFile(folder + "/monitor.html");
  EXPECT_THAT(page, HasSubstr("<bdi>loss</bdi>"));
  EXPECT_THAT(page, HasSubstr("<title>run</title>"));
  EXPECT_THAT(page, Not(HasSubstr("\"refresh\"")));
}

TEST(MonitorCommandTest, TellsWhatIsWrong) {
  const std::string folder = NewFolder();
  EXPECT_EQ(Firn({"monitor"}).status, 2);
  EXPECT_EQ(Firn({"monitor", folder, "--interval", "0"}).status, 2);
  const Outcome none = Firn({"monitor", folder + "/none"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("/none"));
  EXPECT_THAT(Firn({"monitor", folder}).err, HasSubstr("nothing of a run in"));
  EXPECT_EQ(Firn({"monitor", folder}).status, 1);
  WriteFile(folder + "/a\x1b.series.txt", "x\n");
  const Outcome bad = Firn({"monitor", folder, "--json"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.err, HasSubstr("a\\x1b.series.txt: offset 0: "));
  EXPECT_EQ(nlohmann::json::parse(bad.out)["problems"].size(), 1u);
  EXPECT_THAT(ReadFile(folder + "/monitor.html"), HasSubstr(">Problems</h2>"));
  EXPECT_EQ(Firn({"monitor", folder, "-o", folder + "/no/page.html"}).status, 1);
}

TEST(MonitorCommandTest, PrintsNoControlCharactersOfNames) {
  const std::string folder = NewFolder(), path = folder + "/a\x1b]0;b.series.txt";
  WriteFile(path, "0 1\n");
  std::filesystem::resize_file(path,
                               int64_t{257} << 20);  // sparse; so long that a line tells of it
  const Outcome run = Firn({"monitor", folder});
  EXPECT_THAT(run.err, HasSubstr("reading a\\x1b]0;b.series.txt (257"));
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b")));
  const Outcome follow = Firn({"monitor", folder, "--follow", "--until-idle", "0.01", "--interval",
                               "0.01", "-o", folder + "/page\x1b.html"});
  EXPECT_THAT(follow.err, HasSubstr("page\\x1b.html: 1 file"));
  EXPECT_THAT(follow.err, Not(HasSubstr("\x1b")));
}

TEST(MonitorCommandTest, FollowsARunThatBeginsLater) {
  const std::string folder = NewFolder() + "/later", page = TempPath("page.html");
  std::string while_it_runs;
  std::thread run([&] {
    const auto rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
    rest();
    const io::Monitor monitor(folder);
    io::MonitorSeries loss("loss", monitor);
    for (int step = 0; step < 5; ++step) {
      loss.Add(step, 1.0 / (1 + step));
      rest();
    }
    while_it_runs = ReadFile(page);
  });
  const Outcome follow = Firn({"monitor", folder, "-o", page, "--follow", "--interval", "0.01",
                               "--until-idle", "0.5", "--json"});
  run.join();
  EXPECT_EQ(follow.status, 0);
  EXPECT_EQ(nlohmann::json::parse(follow.out)["curves"], 1);
  EXPECT_THAT(follow.err, HasSubstr("0 files, 0 curves"));
  EXPECT_THAT(follow.err, HasSubstr("1 file, 1 curve"));
  EXPECT_THAT(while_it_runs, HasSubstr("http-equiv=\"refresh\" content=\"1\""));
  EXPECT_THAT(ReadFile(page), HasSubstr("0.2 at 4"));
  EXPECT_THAT(ReadFile(page), Not(HasSubstr("\"refresh\"")));
}

}  // namespace
}  // namespace firn::cli
