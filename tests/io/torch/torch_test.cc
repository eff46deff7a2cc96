#include "firn/io/torch/torch.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/torch/torch_status.h"
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

std::string Data(const std::string& name) {
  return absl::StrCat("tests/io/torch/data/", name, ".pt");
}

std::vector<std::string> Names(const StateDict& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

std::vector<double> Values(const Tensor& x) { return x.To(DType::kF64).ToVector<double>(); }

TEST(TorchTest, ReadsViewsOfOneStorage) {
  for (const char* file : {"views", "views_old"}) {
    const StateDict state = LoadTorch(Data(file));
    EXPECT_THAT(Names(state), ElementsAre("x", "tied", "turned", "row", "column", "steps", "none"));
    EXPECT_EQ(state["x"].shape(), (Shape{3, 4}));
    EXPECT_EQ(Values(state["x"]), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(Values(state["turned"]), (std::vector<double>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
    EXPECT_THAT(Values(state["row"]), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(Values(state["column"]), ElementsAre(1, 5, 9));
    EXPECT_THAT(Values(state["steps"]), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
    EXPECT_EQ(state["none"].shape(), (Shape{0, 4}));
    // Tensors that share elements in the file share them after loading.
    Tensor tied = state["tied"];
    tied.CopyFrom(tied + 1);
    EXPECT_THAT(Values(state["row"]), ElementsAre(5, 6, 7, 8));
  }
}

TEST(TorchTest, ReadsEveryType) {
  EXPECT_THAT(ErrorOf([] { LoadTorch(Data("kinds")); }),
              HasSubstr("kinds.pt: entry \"int16\": elements of type int16 are not read unless "
                        "widened (widen)"));
  const StateDict state = LoadTorch(Data("kinds"), {.widen = true});
  ASSERT_EQ(state.size(), 17u);
  for (const auto& [name, tensor] : state) {
    EXPECT_THAT(Values(tensor), ElementsAre(0, 1, name == "bool" ? 1 : 96)) << name;
  }
  EXPECT_EQ(state["bfloat16"].dtype(), DType::kBF16);
  EXPECT_EQ(state["uint8"].dtype(), DType::kU8);
  EXPECT_EQ(state["int16"].dtype(), DType::kI32);
  EXPECT_EQ(state["uint64"].dtype(), DType::kI64);
  EXPECT_EQ(state["float8_e5m2"].dtype(), DType::kF32);
}

TEST(TorchTest, NamesWhatLiesInDictsAndLists) {
  const StateDict state = LoadTorch(Data("checkpoint"));
  EXPECT_THAT(Names(state), ElementsAre("model.weight", "model.bias", "optimizer.state.0.step",
                                        "optimizer.state.0.exp_avg", "optimizer.state.0.exp_avg_sq",
                                        "optimizer.state.1.step", "optimizer.state.1.exp_avg",
                                        "optimizer.state.1.exp_avg_sq", "list.0", "list.1.0"));
  EXPECT_THAT(Values(state["model.weight"]), ElementsAre(1, 2));
  EXPECT_THAT(Values(state["optimizer.state.0.step"]), ElementsAre(1));
  const StateDict model = LoadTorch(
      Data("checkpoint"),
      {.load = {.want = [](std::string_view name) { return name.starts_with("model."); }}});
  EXPECT_THAT(Names(model), ElementsAre("model.weight", "model.bias"));
  EXPECT_EQ(Values(LoadTorch(Data("parameter"))["p"]).size(), 12u);
}

TEST(TorchTest, NamesWhatIsNotRead) {
  for (const auto& [file, expected] : std::vector<std::pair<std::string, std::string>>{
           {"module",
            "tensors inside an object of \"torch.nn.modules.linear Linear\" are not read; "
            "save its state dict"},
           {"sparse", "a tensor of the kind of _rebuild_sparse_tensor"},
           {"quantized",
            "entry \"q\": a tensor of the kind of _rebuild_qtensor (sparse, quantized"},
           {"complex", "entry \"c\": elements of type complex64 are not read"},
           {"expanded", "entry \"e\": a view of 3 elements that repeats the 1 of its storage"},
           {"negative", "entry \"n\": a tensor that is still to be negated"}}) {
    const absl::StatusOr<StateDict> state = TryLoadTorch(Data(file));
    EXPECT_EQ(state.status().code(), absl::StatusCode::kUnimplemented) << file;
    EXPECT_THAT(std::string(state.status().message()), HasSubstr(expected));
  }
}

TEST(TorchTest, RefusesFilesThatAreCut) {
  for (const char* name : {"views", "views_old"}) {
    const std::string whole = ReadFile(Data(name));
    ASSERT_TRUE(TryParseTorch(whole, "x").ok());
    for (size_t n = 0; n < whole.size(); n += n < 700 ? 1 : 13) {
      const absl::StatusOr<StateDict> state = TryParseTorch(whole.substr(0, n), "x");
      ASSERT_FALSE(state.ok()) << n;
      EXPECT_THAT(std::string(state.status().message()), HasSubstr("x")) << n;
    }
    EXPECT_FALSE(TryParseTorch(whole + "x", "x").ok());
  }
}

TEST(TorchTest, KeepsToItsLimits) {
  const auto error = [](const LoadLimits& limits) {
    return ErrorOf([&] { LoadTorch(Data("views"), {.load = {.limits = limits}}); });
  };
  EXPECT_THAT(error({.max_total_bytes = 47}), HasSubstr("limits.max_total_bytes"));
  EXPECT_EQ(error({.max_total_bytes = 48}), "");
  EXPECT_THAT(error({.max_metadata_bytes = 1000}), HasSubstr("limits.max_metadata_bytes"));
  EXPECT_THAT(error({.max_name_bytes = 5}), HasSubstr("limits.max_name_bytes"));
  EXPECT_THAT(
      ErrorOf([] { LoadTorch(Data("checkpoint"), {.load = {.limits = {.max_depth = 2}}}); }),
      HasSubstr("limits.max_depth"));
}

// A file of the form before PyTorch 1.6, without storages, that holds `object`.
std::string Stream(const std::string& object) {
  return std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.") +
         "M\xe9\x03.}U\x0dlittle_endian\x88s." + object + ".].";
}

// This holds for a tensor alone, too, which has no name.
TEST(TorchTest, ATensorOfAnotherKindIsNamedAsItselfAndMayBeLeftOut) {
  const std::string tensor = "ctorch._utils\n_rebuild_qtensor\n()tR";
  EXPECT_THAT(std::string(TryParseTorch(Stream(tensor), "x", {}).status().message()),
              ::testing::StartsWith("x: a tensor of the kind of _rebuild_qtensor (sparse"));
  const auto without = [](std::string_view name) { return name != "q"; };
  EXPECT_TRUE(LoadTorch(Data("quantized"), {.load = {.want = without}}).empty());
}

// Lists and dicts that stand in others many times are small in a file, and large to go through.
TEST(TorchTest, CountsWhatIsSharedEachTime) {
  const LoadLimits limits = {.max_metadata_bytes = 1'000'000};
  const auto read = [&](const std::string& object) {
    return TryParseTorch(Stream(object), "x", {.load = {.limits = limits}}).status();
  };
  std::string recalls, pairs;
  for (int i = 0; i < 5000; ++i) recalls += "h\1";
  for (char c = 0; c < 100; ++c) pairs += {'K', c, 'N'};
  EXPECT_TRUE(read("}U\1a](]q\1" + recalls + "es").ok()) << read("}U\1a](]q\1" + recalls + "es");
  // Each has a path of its own.
  const absl::Status paths = read("}U\xff" + std::string(255, 'k') + "](]q\1" + recalls + "es");
  EXPECT_THAT(paths.ToString(), HasSubstr("values and paths to them of more"));
  // Each has its keys compared.
  const absl::Status keys = read("}U\1a](}q\1(" + pairs + "u" + recalls + "es");
  EXPECT_THAT(keys.ToString(), HasSubstr("limits.max_metadata_bytes"));
}

TEST(TorchTest, ReadsWhatItWrites) {
  const std::string path = TempPath("mixed.pt");
  const StateDict written = {
      {"w", Transpose(FromValues({1.f, 2.f, 3.f, 4.f}).Reshape({2, 2}), 0, 1)},
      {"b.\u00e9", FromValues({1.f}).To(DType::kBF16)},
      {"none", Zeros({0, 3})},
      {"one", Full({}, 3.0).To(DType::kF64)},
      {"long", FromValues<int64_t>({int64_t{1} << 40})},
      {"flags", FromValues({1.f, 0.f}).To(DType::kBool)}};
  SaveTorch(path, written);
  const StateDict read = LoadTorch(path);
  EXPECT_EQ(Names(read), Names(written));
  for (const auto& [name, tensor] : written) {
    EXPECT_EQ(read[name].dtype(), tensor.dtype()) << name;
    EXPECT_EQ(read[name].shape(), tensor.shape()) << name;
    EXPECT_EQ(Values(read[name]), Values(tensor)) << name;
  }
  const std::string before = ReadFile(path);
  SaveTorch(path, written);
  EXPECT_EQ(ReadFile(path), before);
  EXPECT_THAT(ErrorOf([&] { SaveTorch(path, {{"\xff", Zeros({1})}}); }), HasSubstr("UTF-8"));
  EXPECT_THAT(ErrorOf([&] { SaveTorch(path, {{"a", Tensor()}}); }), HasSubstr("undefined"));
  EXPECT_EQ(TrySaveTorch(path, {{"a", Tensor()}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile(path), before);
}

TEST(TorchTest, SaysWhatElseAFileIs) {
  EXPECT_THAT(ErrorOf([] { LoadTorch(TempPath("none.pt")); }), HasSubstr("none.pt"));
  EXPECT_THAT(
      std::string(TryParseTorch(std::string("\x02\0\0\0\0\0\0\0{}", 10), "x").status().message()),
      HasSubstr("a safetensors file, which LoadSafetensors reads"));
  EXPECT_THAT(std::string(TryParseTorch("\x80\x04N.", "x").status().message()),
              HasSubstr("not a file of torch.save"));
  EXPECT_THAT(std::string(TryParseTorch("hello", "x").status().message()),
              HasSubstr("not a PyTorch file"));
}

}  // namespace
}  // namespace firn::io
