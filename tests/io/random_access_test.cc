#include "firn/io/random_access.h"

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using ::testing::HasSubstr;

TEST(RandomAccessTest, RefusesALinkWhereOneIsNotWanted) {
  const std::string folder = TempPath("folder"), link = TempPath("link");
  std::filesystem::create_directories(folder);
  WriteFile(folder + "/file", "bytes");
  std::filesystem::remove(link);
  std::filesystem::create_symlink(folder + "/file", link);
  EXPECT_EQ((*RandomAccess::Open(link))->size(), 5);
  const absl::Status refused = RandomAccess::Open(link, Links::kRefuse).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("link is a symbolic link, expected a regular file"));
  // Only the last part of a path decides.
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(folder, link);
  EXPECT_EQ((*RandomAccess::Open(link + "/file", Links::kRefuse))->size(), 5);
  EXPECT_TRUE(absl::IsNotFound(RandomAccess::Open(link + "/none", Links::kRefuse).status()));
}

TEST(RandomAccessTest, OpensWhatLiesBelowAFolder) {
  const std::string folder = TempPath("below");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/sub");
  WriteFile(folder + "/sub/file", "bytes");
  EXPECT_EQ((*RandomAccess::OpenBelow(folder, "sub/file"))->size(), 5);
  std::filesystem::create_symlink("file", folder + "/sub/link");
  std::filesystem::create_directory_symlink("sub", folder + "/linked");
  WriteFile(folder + "/two", "bytes");
  std::filesystem::create_hard_link(folder + "/two", folder + "/names");
  for (const std::string& path :
       {std::string("../below/sub/file"), std::string("sub/../two"), folder + "/sub/file",
        std::string("sub//file"), std::string("./two"), std::string(), std::string("sub\\file"),
        std::string("sub/file\0", 9), std::string("sub/link"), std::string("two")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(RandomAccess::OpenBelow(folder, path).status())) << path;
  }
  EXPECT_FALSE(RandomAccess::OpenBelow(folder, "linked/file").ok());
  EXPECT_TRUE(absl::IsNotFound(RandomAccess::OpenBelow(folder, "none/file").status()));
}

TEST(RandomAccessTest, RefusesWhatIsNoFile) {
  const absl::Status folder = RandomAccess::Open(::testing::TempDir()).status();
  EXPECT_THAT(std::string(folder.message()), HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace firn::io::internal
