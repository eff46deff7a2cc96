// Strings of HDF5 as words: of any length and of one, and damaged.
#include "firn/io/hdf5/internal/h5_words.h"

#include <hdf5.h>

#include <array>
#include <string>
#include <utility>

#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/random_access.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/hdf5/h5_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class H5WordsTest : public H5ReaderTest {};

TEST_F(H5WordsTest, ReadsWords) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make(
        [](hid_t f) {
          const hid_t any = H5Tcopy(H5T_C_S1);
          H5Tset_size(any, H5T_VARIABLE);
          const std::array<const char*, 4> words = {"cat", "", "a dog", "cat"};
          AddDataset(f, "g/any", any, {4}, any, words.data());
          AddDataset(f, "unwritten", any, {2}, any, nullptr);
          H5Tclose(any);
          for (const auto& [name, padding] :
               {std::pair{"terminated", H5T_STR_NULLTERM}, std::pair{"nuls", H5T_STR_NULLPAD},
                std::pair{"blanks", H5T_STR_SPACEPAD}}) {
            const hid_t fixed = H5Tcopy(H5T_C_S1);
            H5Tset_size(fixed, 5);
            H5Tset_strpad(fixed, padding);
            const std::string data = padding == H5T_STR_SPACEPAD
                                         ? "cat  a dogab   "
                                         : std::string("cat\0\0a dogab\0\0\0", 15);
            AddDataset(f, name, fixed, {3}, fixed, data.data(), {.chunk = {2}, .deflate = true});
            H5Tclose(fixed);
          }
          AddNumbers(f, "numbers", {3});
        },
        low);
    EXPECT_THAT(LoadHdf5Words(path, "g.any"), ElementsAre("cat", "", "a dog", "cat"));
    EXPECT_THAT(LoadHdf5Words(path, "unwritten"), ElementsAre("", ""));
    EXPECT_THAT(LoadHdf5Words(path, "nuls"), ElementsAre("cat", "a dog", "ab"));
    EXPECT_THAT(LoadHdf5Words(path, "blanks"), ElementsAre("cat", "a dog", "ab"));
    EXPECT_EQ(TryLoadHdf5Words(path, "terminated")->size(), 3u);
    const absl::Status none = TryLoadHdf5Words(path, "none").status();
    EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(none.message()), HasSubstr("strings called none, got none; "));
    const absl::Status numbers = TryLoadHdf5Words(path, "numbers").status();
    EXPECT_EQ(numbers.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(numbers.message()), HasSubstr("expected strings, got elements of class "
                                                          "float"));
    EXPECT_EQ(TryLoadHdf5Words(path, "g.any", {.max_tensors = 3}).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
}

// Every truncation and every flipped bit of a file with words is an error or words.
TEST_F(H5WordsTest, ReadsDamagedWordsWithoutHarm) {
  const std::string path = Make([](hid_t f) {
    const hid_t any = H5Tcopy(H5T_C_S1);
    H5Tset_size(any, H5T_VARIABLE);
    const std::array<const char*, 3> words = {"cat", "elephant", "dog"};
    AddDataset(f, "w", any, {3}, any, words.data());
    H5Tclose(any);
  });
  const std::string bytes = ReadFile(path);
  const auto read = [&](const std::string& changed) {
    const auto file = RandomAccess::FromMemory(
        "w.h5", {reinterpret_cast<const unsigned char*>(changed.data()), changed.size()});
    return ReadH5Words(*file, "w", {.max_total_bytes = 1 << 20, .max_metadata_bytes = 1 << 20});
  };
  ASSERT_TRUE(read(bytes).ok());
  for (size_t n = 0; n < bytes.size(); n += 7) EXPECT_FALSE(read(bytes.substr(0, n)).ok());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
    (void)read(changed).ok();
  }
}

}  // namespace
}  // namespace firn::io::internal
