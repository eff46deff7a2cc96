// Classes by folders, images when they are asked for, and the same batches from threads.
#include "firn/io/data/image_folder.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/data/data_loader.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void AddImage(const std::string& path, int value) {
  fs::create_directories(fs::path(path).parent_path());
  WriteFile(path,
            EncodePng(FromVector(std::vector<uint8_t>(4, static_cast<uint8_t>(value)), {1, 2, 2})));
}

std::string Folder() {
  const std::string folder = TempPath("images");
  fs::remove_all(folder);
  AddImage(folder + "/dog/b.png", 3);
  AddImage(folder + "/cat/deep/a.png", 1);
  AddImage(folder + "/cat/x.PNG", 2);
  AddImage(folder + "/cat/.hidden.png", 9);
  WriteFile(folder + "/cat/notes.txt", "not an image");
  WriteFile(folder + "/readme.png", "not in a class");
  return folder;
}

TEST(ImageFolderTest, SortsClassesAndFiles) {
  const std::string folder = Folder();
  const auto images = ImageFolder(folder);
  EXPECT_THAT(images->classes(), ElementsAre("cat", "dog"));
  ASSERT_EQ(images->size(), 3);
  EXPECT_EQ(images->path(0), folder + "/cat/deep/a.png");
  EXPECT_EQ(images->path(1), folder + "/cat/x.PNG");
  EXPECT_EQ(images->path(2), folder + "/dog/b.png");
  EXPECT_EQ(images->NameOf(2), images->path(2));
  for (int64_t i = 0; i < 3; ++i) {
    const Sample s = images->Get(i);
    EXPECT_EQ(s.input.shape(), (Shape{3, 2, 2}));
    EXPECT_EQ(s.input.ToVector<int64_t>()[0], i + 1);
    EXPECT_EQ(s.target.Item<int64_t>(), i == 2 ? 1 : 0);
    EXPECT_EQ(images->label(i), i == 2 ? 1 : 0);
  }
  EXPECT_THAT(firn::testing::ErrorOf([&] { images->Get(3); }), HasSubstr("outside [0, 3)"));
}

TEST(ImageFolderTest, ThreadsMakeTheSameBatches) {
  const auto images =
      ImageFolder(Folder(), {.image = {.color = ImageColor::kGrey},
                             .transform = [](const Tensor& t) { return t.To(DType::kF32); }});
  std::vector<std::vector<float>> seen[2];
  for (const int threads : {0, 2}) {
    DataLoader loader(images, {.batch = 2, .shuffle = true, .seed = 5, .prefetch = threads});
    for (auto [x, label] : loader) seen[threads / 2].push_back(x.ToVector<float>());
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0].size(), 2u);
  EXPECT_EQ(seen[0][0].size(), 8u);
}

TEST(ImageFolderTest, NamesWhatIsWrong) {
  const std::string folder = Folder();
  const auto images = ImageFolder(folder);
  fs::remove(folder + "/dog/b.png");  // while it trains
  EXPECT_THAT(firn::testing::ErrorOf([&] { images->Get(2); }), HasSubstr("dog/b.png"));
  WriteFile(folder + "/cat/x.PNG", "damaged");
  EXPECT_THAT(firn::testing::ErrorOf([&] { images->Get(1); }),
              HasSubstr("x.PNG: offset 0, signature"));
  EXPECT_EQ(images->Get(0).target.Item<int64_t>(), 0);
  EXPECT_THAT(firn::testing::ErrorOf([&] { ImageFolder(folder); }),
              HasSubstr("dog: expected images of this class, got none"));
  EXPECT_THAT(firn::testing::ErrorOf([&] { ImageFolder(folder + "/dog"); }),
              HasSubstr("expected a folder for each class"));
  EXPECT_THAT(firn::testing::ErrorOf([&] { ImageFolder(folder + "/nowhere"); }),
              HasSubstr("nowhere"));
}

TEST(ImageFolderTest, LeavesNoImageOutInSilence) {
  const std::string folder = Folder();
  WriteFile(folder + "/dog/c.webp", "RIFF");
  WriteFile(folder + "/cat/deep/d.HEIC", "ftyp");
  WriteFile(folder + "/cat/.hidden.webp", "RIFF");
  const absl::Status status = firn::testing::StatusOf([&] { ImageFolder(folder); });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(folder +
                        ": 2 images of formats that are not read (skip_unread leaves them "
                        "out): " +
                        folder + "/cat/deep/d.HEIC, " + folder + "/dog/c.webp"));
  EXPECT_EQ(ImageFolder(folder, {.skip_unread = true})->size(), 3);
  // A class with only such files, and more of them than the message names.
  for (int i = 0; i < 12; ++i) {
    WriteFile(folder + "/dog/" + std::to_string(i) + ".avif", "ftyp");
  }
  fs::remove(folder + "/dog/b.png");
  // They are sorted before ten are taken.
  EXPECT_THAT(firn::testing::ErrorOf([&] { ImageFolder(folder); }),
              AllOf(HasSubstr("out): " + folder + "/cat/deep/d.HEIC, " + folder + "/dog/0.avif, "),
                    HasSubstr("/dog/11.avif, " + folder + "/dog/2.avif, "),
                    HasSubstr("/dog/6.avif and 4 more")));
  EXPECT_THAT(firn::testing::ErrorOf([&] { ImageFolder(folder, {.skip_unread = true}); }),
              HasSubstr("dog: expected images of this class, got none"));
}

TEST(ImageFolderTest, ReadsFilesOfOtherNamesOfTheirFormats) {
  const std::string folder = Folder();
  for (const char* name : {"/dog/a.jpe", "/dog/b.JFIF", "/dog/c.pnm", "/dog/d.DIB"}) {
    AddImage(folder + name, 7);
  }
  EXPECT_EQ(ImageFolder(folder)->size(), 7);
}

TEST(ImageFolderTest, NamesTheFileThatTransformRefuses) {
  const auto images = ImageFolder(Folder(), {.transform = [](const Tensor& t) -> Tensor {
                                    if (t.ToVector<int64_t>()[0] == 2)
                                      throw std::domain_error("not for me");
                                    return Reshape(t, {5});
                                  }});
  DataLoader loader(images, {.batch = 3, .prefetch = 1});
  EXPECT_THAT(firn::testing::ErrorOf([&] { images->Get(1); }),
              HasSubstr("cat/x.PNG: transform: not for me"));
  const absl::Status status = firn::testing::StatusOf([&] { images->Get(2); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dog/b.png: reshape"));
  EXPECT_THAT(firn::testing::ErrorOf([&] { loader.begin(); }), HasSubstr("cat/deep/a.png"));
}

}  // namespace
}  // namespace firn::io
