// Tables and files of a profile made by hand.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "firn/autograd/profile.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;

Profile Made() {
  Profile p;
  p.rows = {
      {"conv2d", "net.stem.conv", Phase::kForward, 2, 0.004, 0.002, 8e6, 4096, 0.5},
      {"mul", "net.a \"b\",c", Phase::kBackward, 1, 0.003, 0.003, {}, 100, 0.375},
      {"mul", "", Phase::kForward, 1, 0.001, 0.001, {}, 0, 0.125},
  };
  p.events = {{0, 0.0, 0.0015}, {2, 0.002, 0.001}, {1, 0.004, 0.003}, {0, 0.008, 0.0025}};
  p.runs = 2;
  p.seconds = 0.016;
  p.median_run_seconds = 0.008;
  p.operation_seconds = 0.008;
  return p;
}

TEST(ProfileOutputTest, TableByOperation) {
  std::ostringstream printed;
  printed << Made();
  EXPECT_EQ(printed.str(), Made().ByOperation());
  EXPECT_EQ(Made().ByOperation(),
            "2 runs, 8.000 ms each (median); operations take 50.0% of the time\n"
            "operation  calls  total ms  share  median ms  GFLOP  GFLOP/s   memory  GB/s\n"
            "conv2d         2     4.000  50.0%      2.000  0.008      2.0  4.0 KiB   0.0\n"
            "mul            2     4.000  50.0%      2.000      -        -    100 B   0.0\n");
}

TEST(ProfileOutputTest, TableByModuleIsATreeOfSums) {
  EXPECT_EQ(Made().ByModule(),
            "2 runs, 8.000 ms each (median); operations take 50.0% of the time\n"
            "module       calls  forward ms  backward ms   share  GFLOP   memory\n"
            "net              3       4.000        3.000   87.5%  0.008  4.1 KiB\n"
            "  a \"b\",c        1       0.000        3.000   37.5%      -    100 B\n"
            "  stem           2       4.000        0.000   50.0%  0.008  4.0 KiB\n"
            "    conv         2       4.000        0.000   50.0%  0.008  4.0 KiB\n"
            "(no module)      1       1.000        0.000   12.5%      -      0 B\n"
            "all              4       5.000        3.000  100.0%  0.008  4.1 KiB\n");
}

TEST(ProfileOutputTest, OneOperationInANanosecondHasARate) {
  Profile p;
  p.rows = {{"add", "", Phase::kForward, 1, 1e-9, 1e-9, 1.0, 1, 1.0}};
  EXPECT_NE(p.ByOperation().find("0.000      1.0     1 B   1.0\n"), std::string::npos)
      << p.ByOperation();
}

TEST(ProfileOutputTest, AnEmptyProfileHasEmptyTables) {
  EXPECT_EQ(Profile().ByOperation(),
            "0 runs, 0.000 ms each (median); operations take - of the time\n"
            "operation  calls  total ms  share  median ms  GFLOP  GFLOP/s  memory  GB/s\n");
  EXPECT_NE(Profile().ByModule().find("all"), std::string::npos);
}

class ProfileFileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string Read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path_ = ::testing::TempDir() + "/profile_file_test";
};

TEST_F(ProfileFileTest, Csv) {
  Made().WriteCsv(path_);
  EXPECT_EQ(Read(),
            "operation,path,phase,calls,total_seconds,median_seconds,flop,bytes,share\r\n"
            "conv2d,net.stem.conv,forward,2,0.004,0.002,8e+06,4096,0.5\r\n"
            "mul,\"net.a \"\"b\"\",c\",backward,1,0.003,0.003,,100,0.375\r\n"
            "mul,,forward,1,0.001,0.001,,0,0.125\r\n");
}

TEST_F(ProfileFileTest, Trace) {
  Profile p = Made();
  p.events.resize(3);
  p.WriteTrace(path_);
  EXPECT_EQ(Read(),
            R"({"displayTimeUnit":"ms","traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"Firn"}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"forward"}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"backward"}},
{"name":"conv2d","cat":"forward","ph":"X","pid":1,"tid":1,"ts":0,"dur":1500,"args":{"module":"net.stem.conv"}},
{"name":"mul","cat":"forward","ph":"X","pid":1,"tid":1,"ts":2000,"dur":1000,"args":{"module":""}},
{"name":"mul","cat":"backward","ph":"X","pid":1,"tid":2,"ts":4000,"dur":3000,"args":{"module":"net.a \"b\",c"}}
]}
)");
}

TEST_F(ProfileFileTest, SaysWhatCannotBeWritten) {
  const std::string path = path_ + ".none/trace";
  EXPECT_NE(ErrorOf([&] { Made().WriteTrace(path); }).find("write_trace: cannot create a file"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] { Made().WriteCsv(path); }).find("write_csv: cannot create a file"),
            std::string::npos);
}

}  // namespace
}  // namespace firn
