// Numbers of a half type may differ from those in a test folder by two of the type's steps.
#include <filesystem>
#include <fstream>
#include <string>

#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/onnx/onnx_test_folder.h"
#include "firn/io/wire/internal/wire.h"
#include "gtest/gtest.h"
#include "tests/io/onnx/onnx_builder.h"

namespace firn::io::internal {
namespace {

void Write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// One number of a type of 16 bits.
std::string Number(const char* name, int element, uint16_t bits) {
  const std::string raw = {static_cast<char>(bits & 255), static_cast<char>(bits >> 8)};
  return WireWriter().Integer(1, 1).Integer(2, element).Bytes(8, name).Bytes(9, raw).bytes();
}

// The verdict on a copy of `bits` whose expected value is `steps` higher.
OnnxVerdict VerdictOn(int element, uint16_t bits, int steps) {
  OnnxModel model = Model(Graph({Node("Identity", {"x"}, {"y"})}, {"x"}, {"y"}));
  for (auto* values : {&model.graph.inputs, &model.graph.outputs}) {
    (*values)[0].type.kind = OnnxType::Kind::kTensor;
    (*values)[0].type.element = element;
  }
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "onnx_tolerance_test";
  std::filesystem::create_directories(folder / "test_data_set_0");
  Write(folder / "model.onnx", FormatOnnxModel(model).value());
  Write(folder / "test_data_set_0" / "input_0.pb", Number("x", element, bits));
  Write(folder / "test_data_set_0" / "output_0.pb",
        Number("y", element, static_cast<uint16_t>(bits + steps)));
  return TestOnnxFolder(folder.string()).verdict;
}

TEST(OnnxToleranceTest, IsTwoStepsOfHalfTypes) {
  constexpr int kHalf = 10, kBrain = 16;
  EXPECT_EQ(VerdictOn(kHalf, 0x3800, 2), OnnxVerdict::kPass);  // 0.5
  EXPECT_EQ(VerdictOn(kHalf, 0x3800, 3), OnnxVerdict::kWrong);
  EXPECT_EQ(VerdictOn(kBrain, 0x3f00, 2), OnnxVerdict::kPass);
  EXPECT_EQ(VerdictOn(kBrain, 0x3f00, 3), OnnxVerdict::kWrong);
}

}  // namespace
}  // namespace firn::io::internal
