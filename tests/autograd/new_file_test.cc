#include "autograd/internal/new_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace firn::internal {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "new_file_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int64_t CountFiles() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(NewFileTest, ReplacesAFileAndLeavesNothingElse) {
  ASSERT_TRUE(WriteTextFile(Path("a"), "old and longer").ok());
  ASSERT_TRUE(WriteTextFile(Path("a"), "new").ok());
  EXPECT_EQ(Read("a"), "new");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(NewFileTest, WithoutCommitNothingChanges) {
  ASSERT_TRUE(WriteTextFile(Path("a"), "old").ok());
  {
    absl::StatusOr<NewFile> file = NewFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("new").ok());
    EXPECT_EQ(CountFiles(), 2);
  }
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(NewFileTest, MayBeMoved) {
  absl::StatusOr<NewFile> file = NewFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  NewFile moved = *std::move(file);
  ASSERT_TRUE(moved.Write("text").ok());
  ASSERT_TRUE(moved.Commit().ok());
  EXPECT_EQ(Read("a"), "text");
}

TEST_F(NewFileTest, NamesThePathThatCannotBeWritten) {
  const absl::Status status = WriteTextFile(Path("none/a"), "text");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("none/a"), absl::string_view::npos) << status;
  fs::create_directories(folder_ / "taken" / "by");
  EXPECT_FALSE(WriteTextFile(Path("taken"), "text").ok());  // a folder
  EXPECT_EQ(CountFiles(), 1);
}

}  // namespace
}  // namespace firn::internal
