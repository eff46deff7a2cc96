#include "firn/io/onnx/onnx_test_folder.h"

#include <string>

#include "firn/io/onnx/onnx_info.h"
#include "firn/io/onnx/onnx_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Folder(const std::string& name) { return "tests/io/onnx/data/check/" + name; }

TEST(OnnxTestFolderTest, ComparesResultsWithThoseExpected) {
  const OnnxTestResult gru = TestOnnxFolder(Folder("gru"));
  EXPECT_EQ(gru.verdict, OnnxVerdict::kPass) << gru.why;
  EXPECT_EQ(TestOnnxFolder(Folder("not_right")).verdict, OnnxVerdict::kWrong);
  EXPECT_EQ(TestOnnxFolder(Folder("strings")).verdict, OnnxVerdict::kUnsupported);
  // Everything is near enough.
  EXPECT_EQ(TestOnnxFolder(Folder("not_right"), {.atol = 2}).verdict, OnnxVerdict::kPass);
  EXPECT_THAT(ErrorOf([] { TestOnnxFolder(TempPath("nothing")); }), HasSubstr("nothing"));
}

TEST(OnnxTestFolderTest, ModelsSayWhatTheyAre) {
  const OnnxInfo info = ReadOnnxInfo(Folder("gru") + "/model.onnx");
  EXPECT_EQ(info.operators.at("GRU"), 1);
  EXPECT_FALSE(info.inputs.empty());
  EXPECT_THAT(info.opsets, SizeIs(1));
  EXPECT_EQ(info.opsets[0].first, "ai.onnx");
}

TEST(OnnxTestFolderTest, ImportsGiveAStatusToo) {
  const std::string path = Folder("gru") + "/model.onnx";
  EXPECT_TRUE(TryImportOnnx(path).ok()) << TryImportOnnx(path).status();
  EXPECT_TRUE(TryParseOnnx(ReadFile(path), "gru").ok());
  EXPECT_THAT(TryParseOnnx("not a model", "words").status().ToString(), HasSubstr("words"));
}

}  // namespace
}  // namespace firn::io
