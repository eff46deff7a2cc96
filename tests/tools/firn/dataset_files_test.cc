// What firn dataset leaves as it is, and that what it writes can be read whatever things are
// called.
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/csv_rows.h"
#include "io/image.h"
#include "io/npy.h"
#include "io/rows.h"
#include "tensor/from.h"
#include "tensor/ops.h"
#include "tensor/state_dict.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/dataset_command.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using io::ReadFile;
using io::WriteFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTable[] = "x,y\n1,0\n2,1\n3,0\n4,1\n";

TEST(DatasetFilesTest, FilesOfNoCacheAreNotReplaced) {
  const std::string folder = Folder("no_cache"), own = folder + "/own";
  fs::create_directories(own);
  WriteFile(folder + "/t.csv", kTable);
  for (const char* const name : {"/order.csv", "/original.csv"}) {
    WriteFile(own + name, "of mine");
    for (const char* const force : {"--normalize", "--force"}) {
      EXPECT_THAT(Dataset({"convert", folder + "/t.csv", own, force}).err,
                  HasSubstr(std::string(name + 1) + ": is no part of a cache"));
      EXPECT_EQ(ReadFile(own + name), "of mine");
    }
    fs::remove(own + name);
  }
  Json({"convert", folder + "/t.csv", own});
  EXPECT_EQ(ReadFile(own + "/original.csv"), kTable);
}

TEST(DatasetFilesTest, SplittingDoesNotReplaceTheSource) {
  const std::string folder = Folder("split_source"), cache = folder + "/d";
  WriteFile(folder + "/t.csv", kTable);
  Json({"convert", folder + "/t.csv", cache});
  for (const std::string& source : {cache, cache + "/original.csv"}) {
    EXPECT_THAT(
        Dataset({"split", source, "--ratio", "1,1", "-o", cache + "/", folder + "/e", "--force"})
            .err,
        HasSubstr("/ is, or holds, the source"));
    EXPECT_EQ(ReadFile(cache + "/original.csv"), kTable);
    EXPECT_EQ(Json({"inspect", cache})["rows"], 4);
  }
}

}  // namespace
}  // namespace firn::cli
