#include "firn/io/onnx/internal/onnx_tensor.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/permute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OnnxTensor Raw(int type, std::vector<int64_t> dims, std::string_view bytes) {
  OnnxTensor tensor;
  tensor.name = "w";
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.place = OnnxTensor::Place::kRaw;
  tensor.bytes = bytes;
  return tensor;
}

// Fields of a tensor's message.
OnnxTensor Typed(int type, std::vector<int64_t> dims, const std::string& message) {
  OnnxTensor tensor = Raw(type, std::move(dims), message);
  tensor.place = OnnxTensor::Place::kTyped;
  return tensor;
}

std::vector<double> Values(const OnnxTensor& tensor, bool widen = true) {
  const absl::StatusOr<Tensor> read = OnnxElements("x", {}).Read(tensor, widen);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? read->To(DType::kF64).ToVector<double>() : std::vector<double>();
}

std::string ErrorOf(const OnnxTensor& tensor, bool widen = true, const LoadLimits& limits = {}) {
  const absl::StatusOr<Tensor> read = OnnxElements("x", {}, limits).Read(tensor, widen);
  return read.ok() ? "none" : read.status().ToString();
}

TEST(OnnxTensorTest, ReadsTypesThatFirnHas) {
  const std::string one("\0\0\x80\x3f", 4);
  EXPECT_THAT(Values(Raw(1, {1}, one), false), ElementsAre(1));
  EXPECT_THAT(Values(Raw(3, {2}, "\xff\x7f"), false), ElementsAre(-1, 127));
  EXPECT_THAT(Values(Raw(9, {2}, std::string_view("\0\1", 2)), false), ElementsAre(0, 1));
  EXPECT_THAT(ErrorOf(Raw(9, {1}, "\2"), false),
              HasSubstr("DATA_LOSS: x: tensor \"w\": element 0"));
  EXPECT_THAT(Values(Raw(16, {}, std::string_view("\x80\x3f", 2)), false), ElementsAre(1));
}

TEST(OnnxTensorTest, WidensWhatItIsAskedTo) {
  const std::vector<std::pair<OnnxTensor, double>> cases = {
      {Raw(5, {1}, "\xff\xff"), -1},
      {Raw(4, {1}, "\xff\xff"), 65535},
      {Raw(12, {1}, "\xff\xff\xff\xff"), 4294967295.0},
      {Raw(13, {1}, std::string_view("\7\0\0\0\0\0\0\0", 8)), 7},
      {Raw(17, {1}, "\x7e"), 448},
      {Raw(18, {1}, "\x7f"), 240},
      {Raw(19, {1}, "\x7b"), 57344},
      {Raw(20, {1}, "\x7f"), 57344},
      {Raw(24, {1}, "\x80"), 2}};
  for (const auto& [tensor, value] : cases) {
    EXPECT_THAT(Values(tensor), ElementsAre(value)) << tensor.type;
    EXPECT_THAT(ErrorOf(tensor, false), HasSubstr("is not read unless widened (widen)"));
  }
  EXPECT_THAT(Values(Raw(22, {3}, "\x9f\x07")), ElementsAre(-1, -7, 7));
  EXPECT_THAT(Values(Raw(21, {2, 2}, "\x9f\x70")), ElementsAre(15, 9, 0, 7));
  EXPECT_THAT(ErrorOf(Raw(22, {1}, "\x1f")), HasSubstr("expected zero bits behind the last"));
  EXPECT_THAT(ErrorOf(Raw(13, {1}, std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff", 8))),
              HasSubstr("UNIMPLEMENTED: x: tensor \"w\": element 0"));
}

TEST(OnnxTensorTest, NamesTypesThatItDoesNotRead) {
  for (const auto& [type, word] : std::vector<std::pair<int, const char*>>{{8, "STRING"},
                                                                           {14, "COMPLEX64"},
                                                                           {23, "FLOAT4E2M1"},
                                                                           {26, "INT2"},
                                                                           {28, "FLOAT6E3M2"}}) {
    EXPECT_THAT(ErrorOf(Raw(type, {0}, "")),
                HasSubstr(std::string("UNIMPLEMENTED: x: tensor \"w\": type ") + word + " is not"));
  }
  EXPECT_THAT(ErrorOf(Raw(1, {0, 1, 1, 1, 1, 1, 1, 1, 1}, "")), HasSubstr("at most 8 dimensions"));
  EXPECT_THAT(ErrorOf(Raw(1, {2}, "abcd")), HasSubstr("expected 8 bytes, got 4"));
  EXPECT_THAT(ErrorOf(Raw(1, {1}, "abcd"), true, {.max_total_bytes = 3}),
              HasSubstr("limits.max_total_bytes"));
}

TEST(OnnxTensorTest, ReadsNumbersOfTypedFields) {
  const std::string minus = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  // Packed and alone.
  EXPECT_THAT(Values(Typed(3, {3}, "\x2a\x0b\x05" + minus + "\x28\x7f")), ElementsAre(5, -1, 127));
  EXPECT_THAT(Values(Typed(10, {1}, std::string("\x28\x80\x78", 3))), ElementsAre(1));
  EXPECT_THAT(Values(Typed(22, {3}, "\x28\x9f\x01\x28\x07")), ElementsAre(-1, -7, 7));
  EXPECT_THAT(Values(Typed(12, {1}, "\x58\xff\xff\xff\xff\x0f")), ElementsAre(4294967295.0));
  EXPECT_THAT(Values(Typed(11, {1}, std::string("\x51\0\0\0\0\0\0\xf0\x3f", 9))), ElementsAre(1));
  EXPECT_THAT(ErrorOf(Typed(3, {1}, "\x28\x80\x01")),
              HasSubstr("int32_data[0]: expected a number of -128 to 127 for type INT8, got 128"));
  EXPECT_THAT(ErrorOf(Typed(9, {1}, "\x28\x02")), HasSubstr("of 0 to 1 for type BOOL, got 2"));
  EXPECT_THAT(ErrorOf(Typed(12, {1}, "\x58" + minus)), HasSubstr("for type UINT32, got -1"));
  // Six-bit numbers stand one by one in the field and as a stream in memory: 1, 2, 3 are 01 | 2 <<
  // 6 | 3 << 12.
  EXPECT_EQ(*OnnxElements("x", {}).Bytes(Typed(27, {3}, "\x28\x01\x28\x02\x28\x03")),
            std::string("\x81\x30\x00", 3));
}

class OnnxExternalTest : public ::testing::Test {
 protected:
  OnnxExternalTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/sub");
    WriteFile(folder_ + "/d.bin", "12345678");
    WriteFile(folder_ + "/sub/e.bin", std::string("\1\2\3", 3));
    WriteFile(TempPath("outside.bin"), "12345678");
  }

  absl::StatusOr<Tensor> Read(const std::string& location, std::optional<int64_t> offset = {},
                              int64_t n = 2) {
    OnnxTensor tensor;
    tensor.name = "w";
    tensor.type = 3;
    tensor.dims = {n};
    tensor.place = OnnxTensor::Place::kExternal;
    tensor.external = OnnxExternal{location, offset, n, "", ""};
    return OnnxElements("x", folder_).Read(tensor);
  }
  std::string ErrorIn(const std::string& location, std::optional<int64_t> offset = {},
                      int64_t n = 2) {
    const absl::StatusOr<Tensor> read = Read(location, offset, n);
    return read.ok() ? "none" : read.status().ToString();
  }

  const std::string folder_ = TempPath("external");
};

TEST_F(OnnxExternalTest, ReadsFilesInTheFolder) {
  EXPECT_THAT(Read("sub/e.bin", 1)->To(DType::kF32).ToVector<float>(), ElementsAre(2, 3));
  EXPECT_EQ(ErrorIn("d.bin", 6), "none");
  WriteFile(folder_ + "/a..b", "12345678");
  EXPECT_EQ(ErrorIn("a..b"), "none");
}

TEST_F(OnnxExternalTest, RefusesEverythingElse) {
  EXPECT_EQ(symlink("d.bin", (folder_ + "/link.bin").c_str()), 0);
  EXPECT_EQ(symlink("sub", (folder_ + "/linked").c_str()), 0);
  EXPECT_EQ(link((folder_ + "/d.bin").c_str(), (folder_ + "/hard.bin").c_str()), 0);
  for (const auto& [location, expected] : std::vector<std::pair<std::string, std::string>>{
           {"../outside.bin", "below the folder"},
           {"sub/../d.bin", "below the folder"},
           {TempPath("outside.bin"), "below the folder"},
           {"//dev/zero", "below the folder"},
           {"", "below the folder"},
           {"./d.bin", "below the folder"},
           {"sub/", "below the folder"},
           {"sub\\e.bin", "neither backslashes nor zero bytes"},
           {std::string("d.bin\0x", 7), "neither backslashes nor zero bytes"},
           {"link.bin", "is a symbolic link"},
           {"linked/e.bin", "expected a folder and no link"},
           {"hard.bin", "expected a file of one name, got one of 2"},
           {"d.bin/x", "expected a folder"},
           {"sub", "is not a regular file"},
           {"none.bin", "NOT_FOUND"}}) {
    EXPECT_THAT(ErrorIn(location), HasSubstr(expected)) << location;
    EXPECT_THAT(ErrorIn(location), HasSubstr("x: tensor \"w\": ")) << location;
  }
  EXPECT_THAT(ErrorIn("sub/e.bin", 2), HasSubstr("expected 2 bytes from 2 on"));
  EXPECT_THAT(ErrorIn("sub/e.bin", int64_t{1} << 62), HasSubstr("got a file of 3"));
  // More than the file has: nothing is allocated for it.
  EXPECT_THAT(ErrorIn("sub/e.bin", 0, int64_t{1} << 37), HasSubstr("got a file of 3"));
}

TEST_F(OnnxExternalTest, HasNoFolderInMemory) {
  OnnxTensor tensor = Raw(3, {2}, "");
  tensor.place = OnnxTensor::Place::kExternal;
  tensor.external = OnnxExternal{"d.bin", {}, {}, "", ""};
  EXPECT_THAT(ErrorOf(tensor), HasSubstr("FAILED_PRECONDITION: x: tensor \"w\": its elements"));
}

TEST(OnnxTensorTest, ReadsBackWhatAProgramWrites) {
  OnnxModel model;
  model.ir_version = 8;
  model.opsets = {{"", 18}};
  const Tensor turned = Transpose(FromVector(std::vector<float>{1, 2, 3, 4}, {2, 2}), 0, 1);
  model.graph.initializers = {OnnxTensorOf("w", turned),
                              OnnxTensorOf("none", FromVector(std::vector<float>(), {0, 3})),
                              OnnxTensorOf("one", FromVector(std::vector<int64_t>{3}, {}))};
  const absl::StatusOr<std::string> bytes = FormatOnnxModel(model);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const absl::StatusOr<OnnxModel> read = ParseOnnxModel(*bytes, "x");
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<OnnxTensor>& tensors = read->graph.initializers;
  EXPECT_THAT(Values(tensors.at(0)), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(tensors.at(1).dims, ElementsAre(0, 3));
  EXPECT_THAT(Values(tensors.at(2)), ElementsAre(3));
  model.graph.initializers[0].dims = {5};
  EXPECT_EQ(FormatOnnxModel(model).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace firn::io::internal
