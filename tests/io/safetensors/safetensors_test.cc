#include "firn/io/safetensors/safetensors.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/io/safetensors/safetensors_status.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of this header and these elements.
std::string File(const std::string& header, const std::string& data = "") {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

std::string ErrorIn(const std::string& bytes, const SafetensorsOptions& options = {}) {
  const absl::StatusOr<StateDict> state = TryParseSafetensors(bytes, "x", options);
  return state.ok() ? "none" : state.status().ToString();
}

constexpr char kOne[] = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

StateDict Mixed() {
  return {{"w", FromValues({1.f, -2.f, 0.5f})},
          {"name with \"quotes\" \u00e9", Full({2, 1}, 7).To(DType::kI64)},
          {"none", Zeros({0, 3})},
          {"one", Full({}, 3.0).To(DType::kF64)},
          {"half", FromValues({1.f, 65504.f}).To(DType::kF16)},
          {"brain", FromValues({1.f, 3e38f}).To(DType::kBF16)},
          {"flags", FromValues({1.f, 0.f, 1.f}).To(DType::kBool)},
          {"bytes", FromValues({200.f}).To(DType::kU8)},
          {"signed", FromValues({-100.f}).To(DType::kI8)},
          {"i", FromValues<int>({1 << 30})}};
}

TEST(SafetensorsTest, ReadsWhatItWrites) {
  const std::string path = TempPath("mixed.safetensors");
  const StateDict written = Mixed();
  SaveSafetensors(path, written);
  for (const bool map : {true, false}) {
    const StateDict read = LoadSafetensors(path, {.map = map});
    ASSERT_EQ(read.size(), written.size());
    for (const auto& [name, tensor] : written) {
      ASSERT_TRUE(read.Contains(name)) << name;
      EXPECT_EQ(read[name].dtype(), tensor.dtype()) << name;
      EXPECT_EQ(read[name].shape(), tensor.shape()) << name;
      EXPECT_EQ(read[name].To(DType::kF64).ToVector<double>(),
                tensor.To(DType::kF64).ToVector<double>())
          << name;
    }
  }
}

TEST(SafetensorsTest, WritesTheBytesOfTheReference) {
  const std::string path = TempPath("bytes.safetensors");
  SaveSafetensors(
      path, {{"b", FromValues({1.f})}, {"c", FromValues<int64_t>({2})}, {"a", FromValues({2.f})}});
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(ReadFile(path),
            File(padded, std::string("\2\0\0\0\0\0\0\0\0\0\0\x40\0\0\x80\x3f", 16)));
  const OrderedMap<std::string> metadata = LoadSafetensorsMetadata(path);
  ASSERT_EQ(metadata.size(), 1u);
  EXPECT_EQ(metadata["format"], "pt");
  SaveSafetensors(path, {}, {.metadata = {}});
  EXPECT_EQ(ReadFile(path), File("{}      "));
  EXPECT_TRUE(LoadSafetensors(path).empty());
}

TEST(SafetensorsTest, WritesTensorsThatLieOtherwise) {
  const std::string path = TempPath("turned.safetensors");
  const Tensor x = FromValues({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).Reshape({2, 3});
  SaveSafetensors(path, {{"x", Transpose(x, 0, 1)}});
  EXPECT_EQ(LoadSafetensors(path)["x"].ToVector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(SafetensorsTest, WhatIsWrittenToAMappedTensorStaysHere) {
  const std::string path = TempPath("map.safetensors");
  SaveSafetensors(path, {{"w", FromValues({1.f, 2.f})}});
  const std::string before = ReadFile(path);
  Tensor w = LoadSafetensors(path)["w"];
  w.CopyFrom(w + 1);
  EXPECT_THAT(w.ToVector<float>(), ElementsAre(2, 3));
  EXPECT_EQ(ReadFile(path), before);
  SaveSafetensors(path, {{"w", w}});  // a new file in the place of the one that is mapped
  EXPECT_THAT(w.ToVector<float>(), ElementsAre(2, 3));
  EXPECT_THAT(LoadSafetensors(path)["w"].ToVector<float>(), ElementsAre(2, 3));
}

TEST(SafetensorsTest, CopiesWhatIsNotAligned) {
  const std::string header = R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("a":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  const std::string path = TempPath("odd.safetensors");
  WriteFile(path, File(header, std::string("\7\0\0\x80\x3f", 5)));
  const StateDict state = LoadSafetensors(path);
  EXPECT_THAT(state["a"].ToVector<float>(), ElementsAre(1));
  EXPECT_EQ(state.begin()->first, "b");
}

TEST(SafetensorsTest, ReadsWhatIsWantedOnly) {
  const std::string header = R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"I8","shape":[2],"data_offsets":[8,10]}})";
  const std::string bytes = File(header, std::string(8, '\0') + "\1\2");
  EXPECT_THAT(ErrorIn(bytes),
              HasSubstr("UNIMPLEMENTED: x: header, entry \"a\": dtype C64 is not read"));
  const StateDict state = *TryParseSafetensors(
      bytes, "x", {.load = {.want = [](std::string_view name) { return name == "b"; }}});
  ASSERT_EQ(state.size(), 1u);
  EXPECT_THAT(state["b"].To(DType::kF32).ToVector<float>(), ElementsAre(1, 2));
}

std::vector<double> Widened(const std::string& dtype, const std::string& data, int bytes) {
  const auto n = static_cast<int>(data.size()) / bytes;
  const std::string file = File(absl::StrCat("{\"a\":{\"dtype\":\"", dtype, "\",\"shape\":[", n,
                                             "],\"data_offsets\":[0,", data.size(), "]}}"),
                                data);
  EXPECT_THAT(ErrorIn(file), HasSubstr("unless widened (widen)"));
  const absl::StatusOr<StateDict> state = TryParseSafetensors(file, "x", {.widen = true});
  if (!state.ok()) {
    ADD_FAILURE() << state.status();
    return {};
  }
  return (*state)["a"].To(DType::kF64).ToVector<double>();
}

TEST(SafetensorsTest, WidensWhatItIsAskedTo) {
  EXPECT_THAT(Widened("I16", std::string("\xff\xff\1\0", 4), 2), ElementsAre(-1, 1));
  EXPECT_THAT(Widened("U16", std::string("\xff\xff", 2), 2), ElementsAre(65535));
  EXPECT_THAT(Widened("U32", std::string("\xff\xff\xff\xff", 4), 4), ElementsAre(4294967295.0));
  EXPECT_THAT(Widened("U64", std::string("\1\0\0\0\0\0\0\0", 8), 8), ElementsAre(1));
  // Aligned in the file, and so not copied where it is mapped.
  const std::string most =
      File(R"({"a":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}}  )", std::string(8, '\xff'));
  EXPECT_THAT(ErrorIn(most, {.widen = true}), HasSubstr("UNIMPLEMENTED"));
  const std::string path = TempPath("most.safetensors");
  WriteFile(path, most);
  EXPECT_THAT(ErrorOf([&] { LoadSafetensors(path, {.widen = true}); }),
              HasSubstr("beyond the largest i64"));
}

// Numbers of the OCP's specification and of Noune et al. 2022: the greatest, the least normal, the
// least.
TEST(SafetensorsTest, WidensFloatsOfEightBits) {
  EXPECT_THAT(Widened("F8_E4M3", std::string("\x7e\x08\x01\x80\xb8\x3c", 6), 1),
              ElementsAre(448, 0x1p-6, 0x1p-9, 0, -1, 1.5));
  EXPECT_TRUE(std::isnan(Widened("F8_E4M3", "\x7f", 1)[0]));
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(Widened("F8_E5M2", std::string("\x7b\x04\x01\x7c\xfc\xbc", 6), 1),
              ElementsAre(57344, 0x1p-14, 0x1p-16, inf, -inf, -1));
  EXPECT_TRUE(std::isnan(Widened("F8_E5M2", "\x7d", 1)[0]));
  EXPECT_THAT(Widened("F8_E8M0", std::string("\x7f\x00\xfe", 3), 1),
              ElementsAre(1, 0x1p-127, 0x1p127));
  EXPECT_TRUE(std::isnan(Widened("F8_E8M0", "\xff", 1)[0]));
  EXPECT_THAT(Widened("F8_E4M3FNUZ", std::string("\x7f\x08\x01\x40", 4), 1),
              ElementsAre(240, 0x1p-7, 0x1p-10, 1));
  EXPECT_TRUE(std::isnan(Widened("F8_E4M3FNUZ", "\x80", 1)[0]));
  EXPECT_THAT(Widened("F8_E5M2FNUZ", std::string("\x7f\x04\x01\x40", 4), 1),
              ElementsAre(57344, 0x1p-15, 0x1p-17, 1));
}

// Headers that the reference 0.8 refuses, and ambiguous ones that it takes.
TEST(SafetensorsTest, RefusesHeadersThatAreWrong) {
  const auto entry = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  const std::string four(4, '\0');
  for (const auto& [header, expected] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "expected an object of tensors by their names, got an array"},
           {"1", "expected an object of tensors by their names, got a number"},
           {"{\"a\":1}", "\"a\": expected an object, got a number"},
           {"{} x", "byte 4"},
           {std::string("{}\0\0", 4), "byte 3"},
           {entry(R"("dtype":"F32","shape":[1])"), "expected a field data_offsets, got none"},
           {entry(R"("dtype":"F32","data_offsets":[0,4])"), "expected a field shape"},
           {entry(R"("shape":[1],"data_offsets":[0,4])"), "expected a field dtype"},
           {entry(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), "got \"f32\""},
           {entry(R"("dtype":7,"shape":[1],"data_offsets":[0,4])"), "dtype: expected a string"},
           {entry(R"("dtype":"F32","shape":"1","data_offsets":[0,4])"), "shape: expected an array"},
           {entry(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "got -1"},
           {entry(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), "got 1.0"},
           {entry(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"),
            "expected an array of sizes"},
           {entry(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "expected 2 numbers, got 1"},
           {entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])"), "got 3"},
           {entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
            "expected 4 bytes from 4 on"},
           {entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
            "expected 8 bytes from 0 on"},
           {entry(R"("dtype":"F32","shape":[1],"data_offsets":[1,5])"), "expected 0, where"},
           {entry(R"("dtype":"F32","shape":[0],"data_offsets":[0,0])"), "expected 0 bytes behind"},
           {entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
            "at most the 4 bytes behind"},
           {entry(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), "expected whole bytes"},
           {entry(R"("dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,4])"),
            "expected whole bytes"},
           {entry(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4])"),
            "expected at most 2^63 - 1"},
           {entry(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), "got two"},
           {entry(R"("dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4])"), "got two"},
           {R"({"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "got an empty one"},
           {R"({"a\u0000":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "no zero byte"},
           {R"({"__metadata__":null,"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
            "expected an object, got null"},
           {R"({"__metadata__":{"a":1}})", "__metadata__, \"a\": expected a string, got a number"},
           {R"({"__metadata__":{},"__metadata__":{}})", "expected one __metadata__, got two"},
           {R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},)"
            R"("a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}})",
            "the name occurs twice"},
           {R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},)"
            R"("b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
            "entry \"b\": data_offsets: expected 3, where the elements before end, got 2"}}) {
    const std::string error = ErrorIn(File(header, four));
    EXPECT_THAT(error, HasSubstr(expected)) << header;
    EXPECT_THAT(error, HasSubstr("DATA_LOSS: x: header, ")) << header;
  }
}

TEST(SafetensorsTest, RefusesFilesThatAreCutOrOfAnotherKind) {
  const std::string whole = File(kOne, std::string(4, '\0'));
  ASSERT_EQ(ErrorIn(whole), "none");
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_THAT(ErrorIn(whole.substr(0, n)), HasSubstr("DATA_LOSS: x: ")) << n;
  }
  EXPECT_THAT(ErrorIn(whole + "x"), HasSubstr("expected 4 bytes behind the header, got 5"));
  EXPECT_THAT(ErrorIn(std::string(100, '\xff')), HasSubstr("lie outside the file"));
}

TEST(SafetensorsTest, TakesWhatTheReferenceTakes) {
  const std::string four(4, '\0');
  for (const std::string header :
       {R"( {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )",
        R"({"a":{"new":{"x":[1,{}]},"old":[1,[2]],"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
        R"({"../../etc/x":{"data_offsets":[0,4],"shape":[1,1],"dtype":"F32"}})",
        R"({"z":{"dtype":"F64","shape":[0,1000000000000],"data_offsets":[4,4]},)"
        R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"}) {
    EXPECT_EQ(ErrorIn(File(header, four)), "none") << header;
  }
}

TEST(SafetensorsTest, KeepsToItsLimits) {
  const std::string whole = File(kOne, std::string(4, '\0'));
  EXPECT_THAT(ErrorIn(whole, {.load = {.limits = {.max_total_bytes = 3}}}),
              HasSubstr("limits.max_total_bytes"));
  EXPECT_THAT(ErrorIn(whole, {.load = {.limits = {.max_tensors = 0}}}),
              HasSubstr("limits.max_tensors"));
  EXPECT_THAT(ErrorIn(whole, {.load = {.limits = {.max_name_bytes = 0}}}),
              HasSubstr("limits.max_name_bytes"));
  EXPECT_THAT(ErrorIn(whole, {.load = {.limits = {.max_metadata_bytes = 10}}}),
              HasSubstr("limits.max_metadata_bytes"));
  EXPECT_THAT(ErrorIn(File(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\2")),
              HasSubstr("DATA_LOSS"));
  EXPECT_THAT(
      ErrorIn(
          File(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", "\2")),
      HasSubstr("UNIMPLEMENTED: x: header, entry \"a\": shape: expected at most 8"));
}

TEST(SafetensorsTest, NamesWhatIsLegalAndNotRead) {
  EXPECT_THAT(
      ErrorIn(
          File(R"({"a":{"dtype":"U8","shape":[0,9223372036854775807,3],"data_offsets":[0,0]}})")),
      HasSubstr("UNIMPLEMENTED: x: header, entry \"a\": shape: "));
}

TEST(SafetensorsTest, RefusesToWriteWhatTheFormatHasNot) {
  const std::string path = TempPath("refused.safetensors");
  WriteFile(path, "old");
  const Tensor x = Zeros({1});
  for (const std::string& name :
       {std::string(""), std::string("__metadata__"), std::string("\xff"), std::string("a\0", 2)}) {
    EXPECT_THAT(ErrorOf([&] { SaveSafetensors(path, {{name, x}}); }), HasSubstr("entry")) << name;
  }
  EXPECT_EQ(TrySaveSafetensors(path, {{"", x}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(TryLoadSafetensors(TempPath("none.safetensors")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf([&] { SaveSafetensors(path, {{"a", Tensor()}}); }), HasSubstr("undefined"));
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_THAT(ErrorOf([&] { LoadSafetensors(TempPath("none.safetensors")); }),
              HasSubstr("none.safetensors"));
}

// Files of several parts, which an index names.
class SafetensorsIndexTest : public ::testing::Test {
 protected:
  SafetensorsIndexTest() {
    std::filesystem::create_directories(folder_);
    SaveSafetensors(folder_ + "/one.safetensors", {{"a", FromValues({1.f})}});
    SaveSafetensors(folder_ + "/two.safetensors", {{"b", FromValues({2.f})}, {"c", Zeros({1})}});
  }

  StateDict Read(const std::string& index) {
    WriteFile(folder_ + "/model.safetensors.index.json", index);
    return LoadSafetensors(folder_ + "/model.safetensors.index.json");
  }

  const std::string folder_ = TempPath("parts");
};

TEST_F(SafetensorsIndexTest, ReadsAllParts) {
  const StateDict state = Read(R"({"metadata":{"total_size":8.0,"weight_map":{"x":1}},)"
                               R"("weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  ASSERT_EQ(state.size(), 3u);  // tensors that the index does not name are loaded, too
  EXPECT_THAT(state["a"].ToVector<float>(), ElementsAre(1));
  EXPECT_THAT(state["b"].ToVector<float>(), ElementsAre(2));
}

TEST_F(SafetensorsIndexTest, RefusesIndicesThatAreWrong) {
  for (const auto& [index, expected] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "expected an object, got an array"},
           {"{}", "expected an object weight_map, got none"},
           {R"({"weight_map":[]})", "expected an object of names of files, got an array"},
           {R"({"weight_map":{"a":{}}})", "expected the name of a file, got an object"},
           {R"({"weight_map":{"a":1}})", "expected the name of a file, got a number"},
           {R"({"weight_map":{"a":"../one.safetensors"}})", "expected the name of a file beside"},
           {R"({"weight_map":{"a":"/etc/passwd"}})", "expected the name of a file beside"},
           {R"({"weight_map":{"a":".."}})", "expected the name of a file beside"},
           {R"({"weight_map":{"a":"one.safetensors","a":"one.safetensors"}})", "\"a\" twice"},
           {R"({"weight_map":{},"weight_map":{}})", "expected one weight_map, got two"},
           {R"({"weight_map":{"a":"three.safetensors"}})", "three.safetensors"},
           {R"({"weight_map":{"d":"one.safetensors"}})", "one.safetensors has no such tensor"},
           {R"({"weight_map":{"a":"two.safetensors","b":"one.safetensors"}})",
            "expected the file that has it, two.safetensors, got one.safetensors"}}) {
    EXPECT_THAT(ErrorOf([&, &index = index] { Read(index); }), HasSubstr(expected)) << index;
  }
}

}  // namespace
}  // namespace firn::io
