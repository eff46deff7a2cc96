// Files for NNabla's C runtime, word by word as its network.h declares them; nnb_python_test.py
// compares with those of NNabla's converter.
#include "firn/io/nnabla_model/nnb_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "firn/io/internal/little_endian.h"
#include "firn/io/nnabla_model/internal/nnb_buffers.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

nnabla::Model ModelOf(const std::string& text) {
  auto model = TryParseNnabla(text, "x.nntxt");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : nnabla::Model();
}

// y = relu(x W), of one sample and three.
const char* const kAffine = R"(
  network {
    name: "n" batch_size: 1
    variable { name: "x" type: "Buffer" shape { dim: [-1, 2] } }
    variable { name: "w" type: "Parameter" shape { dim: [2, 3] } }
    variable { name: "h" type: "Buffer" shape { dim: [-1, 3] } }
    variable { name: "y" type: "Buffer" shape { dim: [-1, 3] } }
    function { name: "f" type: "Affine" input: ["x", "w"] output: "h" affine_param { base_axis: 1 } }
    function { name: "r" type: "ReLU" input: "h" output: "y" relu_param { inplace: true } }
  }
  executor {
    name: "run" network_name: "n"
    data_variable { variable_name: "x" } output_variable { variable_name: "y" }
  }
  parameter { variable_name: "w" shape { dim: [2, 3] } data: [1, 2, 3, 4, 5, 6] }
)";

std::vector<uint32_t> WordsAt(const std::string& bytes, size_t from, size_t count) {
  std::vector<uint32_t> words;
  for (size_t i = 0; i < count; ++i) {
    words.push_back(static_cast<uint32_t>(internal::LittleEndian(bytes.data() + from + 4 * i, 4)));
  }
  return words;
}

TEST(NnbFile, IsWhatTheRuntimesHeaderSays) {
  const absl::StatusOr<std::string> made = TryNnbBytes(ModelOf(kAffine), {.batch_size = 3});
  ASSERT_TRUE(made.ok()) << made.status();
  const std::string& file = *made;
  const std::vector<uint32_t> head = WordsAt(file, 0, 14);
  EXPECT_THAT(std::vector<uint32_t>(head.begin(), head.begin() + 2), ElementsAre(2, 45));
  const size_t blocks = head[12], data = 56 + 4 * blocks;
  EXPECT_EQ(file.size(), data + head[13]);
  const std::vector<uint32_t> offsets = WordsAt(file, 56, blocks);
  const auto block = [&](uint32_t number, size_t count) {
    return WordsAt(file, data + offsets.at(number), count);
  };
  // Two variables live at once: x and h, then h and y, of 6 and 9 numbers.
  ASSERT_EQ(head[2], 2u);
  EXPECT_THAT(block(head[3], 2), ElementsAre(9, 9));
  ASSERT_EQ(head[4], 4u);
  const std::vector<uint32_t> variables = block(head[5], 4);
  const std::vector<uint32_t> weight = block(variables[1], 5);
  EXPECT_EQ(weight[0], 1u);
  EXPECT_THAT(block(weight[2], weight[1]), ElementsAre(2, 3));
  std::vector<float> elements;  // turned
  for (const uint32_t word : block(weight[4], 6)) elements.push_back(std::bit_cast<float>(word));
  EXPECT_THAT(elements, ElementsAre(1.f, 4.f, 2.f, 5.f, 3.f, 6.f));
  const std::vector<uint32_t> x = block(variables[0], 5);
  EXPECT_THAT(block(x[2], x[1]), ElementsAre(3, 2));
  EXPECT_EQ(x[4], static_cast<uint32_t>(-1));
  ASSERT_EQ(head[6], 2u);
  const std::vector<uint32_t> functions = block(head[7], 2);
  const std::vector<uint32_t> affine = block(functions[0], 6);
  EXPECT_EQ(affine[0], 0u);
  EXPECT_THAT(block(affine[2], affine[1]), ElementsAre(0, 1));
  EXPECT_THAT(block(affine[4], affine[3]), ElementsAre(2));
  EXPECT_EQ(affine[5], 1u);
  const std::vector<uint32_t> relu = block(functions[1], 6);
  EXPECT_EQ(relu[0], 14u);
  EXPECT_EQ(relu[5], 1u);
  EXPECT_THAT(block(head[9], head[8]), ElementsAre(0));
  EXPECT_THAT(block(head[11], head[10]), ElementsAre(3));
}

// The runtime reads only the binary weight; for the other weight of a convolution the file has a
// single number.
TEST(NnbFile, BinaryWeightsAreTurnedAndOthersCutOff) {
  constexpr char kNetwork[] = R"(
  network {
    name: "n" batch_size: 1
    variable { name: "x" type: "Buffer" shape { dim: [1, 1, 2, 2] } }
    variable { name: "w" type: "Parameter" shape { dim: [1, 1, 2, 1] } }
    variable { name: "b" type: "Parameter" shape { dim: [1, 1, 2, 1] } }
    variable { name: "v" type: "Parameter" shape { dim: [2, 2] } }
    variable { name: "c" type: "Parameter" shape { dim: [2, 2] } }
    variable { name: "h" type: "Buffer" shape { dim: [1, 1, 1, 2] } }
    variable { name: "y" type: "Buffer" shape { dim: [1, 2] } }
    function { name: "f" type: "BinaryConnectConvolution" input: ["x", "w", "b"] output: "h" }
    function { name: "g" type: "BinaryConnectAffine" input: ["h", "v", "c"] output: "y" }
  }
  executor {
    name: "run" network_name: "n"
    data_variable { variable_name: "x" } output_variable { variable_name: "y" }
  }
  parameter { variable_name: "w" shape { dim: [1, 1, 2, 1] } data: [7, 8] }
  parameter { variable_name: "b" shape { dim: [1, 1, 2, 1] } data: [1, -1] }
  parameter { variable_name: "v" shape { dim: [2, 2] } data: [3, 4, 5, 6] }
  parameter { variable_name: "c" shape { dim: [2, 2] } data: [1, -1, 0, 2] }
)";
  const absl::StatusOr<std::string> made = TryNnbBytes(ModelOf(kNetwork));
  ASSERT_TRUE(made.ok()) << made.status();
  const std::vector<uint32_t> head = WordsAt(*made, 0, 14);
  const size_t blocks = head[12], data = 56 + 4 * blocks;
  std::vector<uint32_t> ends = WordsAt(*made, 56, blocks);
  ends.push_back(head[13]);
  const auto block = [&](uint32_t number) {
    return WordsAt(*made, data + ends.at(number), (ends.at(number + 1) - ends[number]) / 4);
  };
  const std::vector<uint32_t> variables = block(head[5]);
  const auto elements = [&](size_t variable) {
    std::vector<float> values;
    for (const uint32_t w : block(block(variables.at(variable))[4])) {
      values.push_back(std::bit_cast<float>(w));
    }
    return values;
  };
  EXPECT_THAT(elements(1), ElementsAre(7));
  EXPECT_THAT(elements(2), ElementsAre(1, -1));
  EXPECT_THAT(elements(3), ElementsAre(3, 5, 4, 6));
  EXPECT_THAT(elements(4), ElementsAre(1, 0, -1, 2));
  EXPECT_EQ(block(block(head[7])[0])[0], 233u);
  EXPECT_EQ(block(block(head[7])[1])[0], 235u);
  // The weight that is cut off must have no other users.
  nnabla::Model model = ModelOf(kNetwork);
  model.networks[0].functions[0].input[2] = "w";
  EXPECT_THAT(std::string(TryNnbBytes(model).status().message()),
              HasSubstr("only with parameters of their own as weights, got \"w\""));
}

TEST(NnbFile, BuffersAreSharedByLivesThatDoNotOverlap) {
  // A chain of four, and one that lives all the time.
  const std::vector<internal::NnbLife> lives = {{.size = 4, .first = 0, .last = 3},
                                                {.size = 8, .first = 0, .last = 1},
                                                {.size = 2, .first = 1, .last = 2},
                                                {.size = 8, .first = 2, .last = 3}};
  const internal::NnbBuffers buffers = internal::AssignNnbBuffers(lives, 3);
  EXPECT_EQ(buffers.sizes.size(), 3u);
  EXPECT_EQ(buffers.buffer[1], buffers.buffer[3]);
  for (size_t i = 0; i < lives.size(); ++i) {
    EXPECT_GE(buffers.sizes[static_cast<size_t>(buffers.buffer[i])], lives[i].size);
    for (size_t k = 0; k < i; ++k) {
      const bool overlap = lives[i].first <= lives[k].last && lives[k].first <= lives[i].last;
      EXPECT_TRUE(!overlap || buffers.buffer[i] != buffers.buffer[k]) << i << " and " << k;
    }
  }
}

TEST(NnbFile, IsWrittenAsAWhole) {
  const std::string path = ::testing::TempDir() + "/net.nnb";
  ASSERT_TRUE(TrySaveNnb(path, ModelOf(kAffine)).ok());
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(bytes, *TryNnbBytes(ModelOf(kAffine)));
  nnabla::Model model = ModelOf(kAffine);
  model.parameters = {};
  EXPECT_THAT(std::string(TrySaveNnb(path, model).message()), HasSubstr("save " + path));
  EXPECT_EQ(std::filesystem::file_size(path), bytes.size());
}

TEST(NnbFile, RefusesByNameWhatTheRuntimeDoesNotHave) {
  const auto refusal = [](nnabla::Model model, const SaveNnbOptions& options = {}) {
    return std::string(TryNnbBytes(model, options).status().message());
  };
  nnabla::Model model = ModelOf(kAffine);
  model.networks[0].functions[1].type = "Erf";
  model.networks[0].functions[1].arguments.clear();
  EXPECT_THAT(refusal(model), HasSubstr("C runtime does not have \"r\" (Erf)"));
  EXPECT_THAT(refusal(ModelOf(kAffine), {.executor = "none"}), HasSubstr("called none, got none"));
  model = ModelOf(kAffine);
  model.networks[0].functions[0].input[1] = "x";
  EXPECT_THAT(refusal(model), HasSubstr("parameters of their own as weights, got \"x\""));
  model = ModelOf(kAffine);
  model.parameters = {};
  EXPECT_THAT(refusal(model), HasSubstr("expected a parameter called \"w\", got none"));
  model = ModelOf(kAffine);
  model.networks[0].functions[0].input[0] = "nothing";
  EXPECT_THAT(refusal(model), HasSubstr("expected a variable of the network, got \"nothing\""));
}

}  // namespace
}  // namespace firn::io
