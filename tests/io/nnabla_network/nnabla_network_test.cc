// Networks by hand, with results that follow from what NNabla documents of its functions.
#include "firn/io/nnabla_network/nnabla_network.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/nnabla_model/internal/nnabla_functions.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tests/error_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

nnabla::Model ModelOf(const std::string& text) {
  auto model = TryParseNnabla(text, "x.nntxt");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : nnabla::Model();
}

std::string Buffer(const std::string& name, const std::string& dims) {
  return absl::StrCat("variable { name: '", name, "' type: 'Buffer' shape { dim: [", dims,
                      "] } }\n");
}

std::string Function(const std::string& type, const std::string& in, const std::string& out,
                     const std::string& more = "") {
  return absl::StrCat("function { name: '", type, "' type: '", type, "' input: [", in,
                      "] output: [", out, "] ", more, " }\n");
}

const char* const kParameters =
    "parameter { variable_name: 'fc/W' shape { dim: [2, 3] } data: [1, 2, 3, 4, 5, 6] need_grad: "
    "true }\n"
    "parameter { variable_name: 'fc/b' shape { dim: 3 } data: [1, 0, -1] }\n";

std::string Affine(const std::string& shape_of_w = "2, 3") {
  return absl::StrCat(
      "network { name: 'n' batch_size: 1 ", Buffer("x", "-1, 2"), Buffer("h", "-1, 3"),
      Buffer("y", "-1, 3"), Buffer("t", "-1, 1"), Buffer("l", "-1, 1"),
      "variable { name: 'fc/W' type: 'Parameter' shape { dim: [", shape_of_w, "] } }\n",
      "variable { name: 'fc/b' type: 'Parameter' shape { dim: 3 } }\n",
      Function("Affine", "'x', 'fc/W', 'fc/b'", "'h'", "affine_param { base_axis: 1 }"),
      Function("ReLU", "'h'", "'y'", "relu_param { }"),
      Function("SoftmaxCrossEntropy", "'y', 't'", "'l'", "softmax_cross_entropy_param { axis: 1 }"),
      "}\n",
      "executor { name: 'run' network_name: 'n' data_variable { variable_name: 'x' } "
      "output_variable { variable_name: 'y' } }\n");
}

void ExpectEqual(const Tensor& got, const std::vector<float>& want, const Shape& shape) {
  ASSERT_EQ(got.shape(), shape);
  const Tensor flat = Flatten(got);
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(Select(flat, 0, static_cast<int64_t>(i)).Item<float>(), want[i]) << i;
  }
}

TEST(NnablaNetworkTest, AnExecutorTakesItsPartOfANetwork) {
  const NnablaImport model =
      ImportNnablaModel(ModelOf(Affine() + kParameters), "x.nntxt", {.batch_size = 2});
  ASSERT_EQ(model.executors.size(), 1u);
  const Network& run = model.executors[0].network;
  ASSERT_EQ(run.inputs().size(), 1u);
  EXPECT_EQ(run.inputs()[0].name, "x");
  // [1, -1] W + b = [-3, -3, -3] + [1, 0, -1]; [0, 1] W + b = [5, 5, 5].
  ExpectEqual(run(FromVector<float>({1, -1, 0, 1}, {2, 2})), {0, 0, 0, 5, 5, 5}, {2, 3});
  EXPECT_TRUE(model.state["fc.W"].requires_grad());
  EXPECT_FALSE(model.state["fc.b"].requires_grad());
  EXPECT_EQ(run.parameters()["fc.W"].impl(), model.state["fc.W"].impl());
}

// Functions that need the batch's size (a shape, a generator) take it from the call's input.
TEST(NnablaNetworkTest, TheBatchStaysOpenOnRequest) {
  const std::string text = absl::StrCat(
      "network { name: 'n' batch_size: 5 ", Buffer("x", "-1, 2, 3"), Buffer("g", "-1, 6"),
      Buffer("c", "-1, 6"), Buffer("f", "-1, 6"), Buffer("s", "-1, 6"), Buffer("y", "-1, 6"),
      Function("Reshape", "'x'", "'f'", "reshape_param { shape { dim: [-1, 6] } }"),
      Function("Constant", "", "'c'", "constant_param { val: 2 shape { dim: [-1, 6] } }"),
      Function("Add2", "'f', 'c'", "'s'"), Function("Mul2", "'s', 'g'", "'y'"),
      "}\n executor { name: 'run' network_name: 'n' data_variable { variable_name: 'x' } "
      "generator_variable { variable_name: 'g' type: 'Constant' multiplier: 10 } "
      "output_variable { variable_name: 'y' } }\n");
  const NnablaImport model =
      ImportNnablaModel(ModelOf(text), "x.nntxt", {.batch_size = nnabla::kOpenBatch});
  const Network& run = model.executors.at(0).network;
  ASSERT_TRUE(run.inputs()[0].dims.has_value());
  EXPECT_FALSE(run.inputs()[0].dims->at(0).size.has_value());
  EXPECT_EQ(run.inputs()[0].dims->at(1).size, 2);
  for (const int64_t batch : {3, 1, 3}) {
    const Tensor y = run(Ones({batch, 2, 3}));
    ExpectEqual(y, std::vector<float>(static_cast<size_t>(batch) * 6, 30), {batch, 6});
  }
  // Without the request the batch has the size in the file.
  const NnablaImport fixed = ImportNnablaModel(ModelOf(text), "x.nntxt", {});
  EXPECT_EQ(fixed.executors.at(0).network.inputs()[0].dims->at(0).size, 5);
}

// If no input has the batch, the size in the file counts.
TEST(NnablaNetworkTest, AnOpenBatchThatNoInputHasIsTheFiles) {
  const auto text = [](const char* size) {
    return absl::StrCat(
        "network { name: 'n' ", size, Buffer("x", "6"), Buffer("c", "-1, 6"), Buffer("y", "-1, 6"),
        Function("Constant", "", "'c'", "constant_param { val: 2 shape { dim: [-1, 6] } }"),
        Function("Mul2", "'x', 'c'", "'y'"), "}");
  };
  const auto import = [](const std::string& all) {
    return ImportNnablaModel(ModelOf(all), "x.nntxt", {.batch_size = nnabla::kOpenBatch});
  };
  const NnablaImport model = import(text("batch_size: 2 "));
  ExpectEqual(model.networks.at(0).network(Ones({6})), std::vector<float>(12, 2), {2, 6});
  EXPECT_THAT(
      firn::testing::ErrorOf([&] { import(text("")); }),
      HasSubstr("expected an input that has it or a batch_size of the network, got neither"));
}

TEST(NnablaNetworkTest, ANetworkHasTheEndsThatItsFunctionsLeave) {
  const NnablaImport model =
      ImportNnablaModel(ModelOf(Affine() + kParameters), "x.nntxt", {.batch_size = 1});
  const Network& n = model.networks[0].network;
  ASSERT_EQ(n.inputs().size(), 2u);
  EXPECT_EQ(n.inputs()[1].name, "t");
  ASSERT_EQ(n.outputs().size(), 1u);
  EXPECT_EQ(n.outputs()[0].name, "l");
  // Equal scores: log 3. A label below 0 counts nothing.
  const auto loss = [&](float label) {
    const std::vector<Tensor> in = {FromVector<float>({0, 1}, {1, 2}), Full({1, 1}, label)};
    return n.Call(in)[0].Item<float>();
  };
  // h = [0, 1] W + b = [5, 5, 5].
  EXPECT_NEAR(loss(2), 1.0986123f, 1e-6);
  EXPECT_EQ(loss(-1), 0);
}

// All 228 are computed.
TEST(NnablaNetworkTest, EveryFunctionOfNnablaIsOnAPage) {
  EXPECT_EQ(internal::NnablaFunctions().size(), 228u);
  for (const internal::NnablaKind& kind : internal::NnablaFunctions()) {
    const internal::NnablaOp* const op = internal::FindNnablaOp(kind.type);
    ASSERT_NE(op, nullptr) << kind.type;
    EXPECT_NE(op->run == nullptr, op->lower == nullptr) << kind.type;
  }
}

Network OneFunction(const std::string& text) {
  const NnablaImport model =
      ImportNnablaModel(ModelOf("network { name: 'n' batch_size: 1 " + text + "}"), "x.nntxt", {});
  return model.networks.at(0).network;
}

// The mask says how many rows there are: each call uses its own mask, and gradients flow to the
// rows.
TEST(NnablaNetworkTest, ElementsDecideSizes) {
  const Network gather = OneFunction(Buffer("x", "3, 2") + Buffer("m", "3") + Buffer("y", "1, 2") +
                                     Function("BoolGather", "'x', 'm'", "'y'"));
  const Tensor x = FromVector<float>({1, 2, 3, 4, 5, 6}, {3, 2}).SetRequiresGrad();
  ExpectEqual(gather(x, FromVector<float>({0, 1, 0}, {3})), {3, 4}, {1, 2});
  const Tensor y = gather(x, FromVector<float>({1, 0, 1}, {3}));
  ExpectEqual(y, {1, 2, 5, 6}, {2, 2});
  Sum(Mul(y, Tensor(2.0))).Backward();
  ExpectEqual(x.grad(), {2, 2, 0, 0, 2, 2}, {3, 2});
  EXPECT_THAT(firn::testing::ErrorOf([&] { gather(x, Ones({2})); }),
              HasSubstr("input \"m\" is expected to be any dtype [3]"));
}

// Divided by the squares of the windows that meet, also at the edges, where fewer do; of odd sizes
// with the last coefficient once. The numbers are NNabla 1.39's.
TEST(NnablaNetworkTest, InverseTransformsHaveTheEdgesThatNnablasHave) {
  const auto istft = [](int size, const std::string& window) {
    return OneFunction(Buffer("r", "1, 2, 3") + Buffer("i", "1, 2, 3") + Buffer("y", "1, 5") +
                       Function("ISTFT", "'r', 'i'", "'y'",
                                absl::StrCat("istft_param { window_size: ", size,
                                             " stride: 1 fft_size: ", size, " window_type: '",
                                             window, "' center: false pad_mode: 'constant' }")));
  };
  const Tensor real = FromVector<float>({1, 2, 3, 4, 5, 6}, {1, 2, 3});
  const Tensor imaginary = FromVector<float>({2, 3, 4, -1, 0, 1}, {1, 2, 3});
  const auto line = [&](const std::string& window) {
    return istft(3, window)(real, imaginary).ToVector<float>();
  };
  EXPECT_THAT(line("rectangular"), Pointwise(FloatNear(2e-6f), {1.6666667f, 1.1443377f, 0.73710829f,
                                                                -0.22767091f, 0.28867513f}));
  EXPECT_THAT(line("hamming"), Pointwise(FloatNear(2e-5f), {20.833336f, 0.2540962f, -0.3080690f,
                                                            -0.2956765f, 0.3749028f}));
}

TEST(NnablaNetworkTest, PackedSequencesHaveFallingLengths) {
  const Network pack = OneFunction(Buffer("x", "2, 2, 1") + Buffer("l", "2") + Buffer("y", "3, 1") +
                                   Buffer("s", "2") +
                                   Function("PackPaddedSequence", "'x', 'l'", "'y', 's'",
                                            "pack_padded_sequence_param { batch_first: false }"));
  const Tensor x = Reshape(FromVector<float>({1, 2, 3, 4}), {2, 2, 1});
  const auto call = [&](std::vector<float> lengths) {
    const std::vector<Tensor> in = {x, FromVector(std::move(lengths))};
    return pack.Call(in);
  };
  const TensorList packed = call({2, 1});
  ExpectEqual(packed[0], {1, 2, 3}, {3, 1});
  ExpectEqual(packed[1], {2, 1}, {2});
  EXPECT_THAT(
      firn::testing::ErrorOf([&] {
        call({1, 2});
      }),
      HasSubstr("lengths is expected to be falling numbers from 2 to 0, it is 2 at place 1"));
  EXPECT_THAT(firn::testing::ErrorOf([&] { call({3, 1}); }), HasSubstr("it is 3 at place 0"));
}

Network Quantized() {
  return OneFunction(Buffer("x", "1, 4") + Buffer("w", "4, 1") + Buffer("f", "4, 1") +
                     Buffer("y", "1, 1") +
                     Function("INQAffine", "'x', 'w', 'f'", "'y'",
                              "inq_affine_param { base_axis: 1 num_bits: 4 inq_iterations: [1, 2] "
                              "selection_algorithm: 'largest_abs' seed: -1 }"));
}

// The weights 4, 3, 0.25, 0.1 become powers of two: none of them in the first run, the larger half
// in the second, all in the third, and they stay so; what is below 2^(3 - 4 - 1) is 0.
TEST(NnablaNetworkTest, IncrementalQuantizationCountsRuns) {
  const Network inq = Quantized();
  const Tensor x = FromVector<float>({1, 10, 100, 1000}, {1, 4});
  const Tensor w = FromVector<float>({4, 3, 0.25f, 0.1f}, {4, 1}), fixed = Zeros({4, 1});
  EXPECT_FLOAT_EQ(inq(x, w, fixed).Item<float>(), 4 + 30 + 25 + 100);
  ExpectEqual(fixed, {0, 0, 0, 0}, {4, 1});
  EXPECT_FLOAT_EQ(inq(x, w, fixed).Item<float>(), 4 + 40 + 25 + 100);
  ExpectEqual(fixed, {1, 1, 0, 0}, {4, 1});
  EXPECT_FLOAT_EQ(inq(x, w, fixed).Item<float>(), 4 + 40 + 50 + 0);
  ExpectEqual(fixed, {1, 1, 1, 1}, {4, 1});
  EXPECT_FLOAT_EQ(inq(x, w, fixed).Item<float>(), 4 + 40 + 50 + 0);
}

// The captured run is the first; with nothing fixed before it, a run beyond the last fixes nothing.
TEST(NnablaNetworkTest, AGraphCountsItsRunsToo) {
  const std::vector<Tensor> in = {FromVector<float>({1, 10, 100, 1000}, {1, 4}),
                                  FromVector<float>({4, 3, 0.25f, 0.1f}, {4, 1}), Zeros({4, 1})};
  const Network inq = Quantized();
  StaticGraph graph = Freeze(
      [&](const Tensor& x, const Tensor& w) {
        return inq(x, w, Zeros({4, 1}));
      },
      in[0], in[1]);
  std::vector<float> results;
  for (int i = 0; i < 3; ++i) results.push_back(graph(in[0], in[1]).Item<float>());
  EXPECT_EQ(results, (std::vector<float>{169, 94, 159}));
}

TEST(NnablaNetworkTest, FunctionsWriteWhatTheyKeep) {
  const Network assign = OneFunction(Buffer("d", "2") + Buffer("s", "2") + Buffer("y", "2") +
                                     Function("Assign", "'d', 's'", "'y'"));
  const Tensor to = Zeros({2});
  ExpectEqual(assign(to, FromVector<float>({1, 2})), {1, 2}, {2});
  ExpectEqual(to, {1, 2}, {2});

  const auto spectral = [](const std::string& test) {
    return OneFunction(Buffer("w", "2, 2") + Buffer("u", "2") + Buffer("y", "2, 2") +
                       Function("SpectralNorm", "'w', 'u'", "'y'",
                                "spectral_norm_param { dim: 0 itr: 1 eps: 1e-12 test: " + test +
                                    " output_u: false }"));
  };
  const Tensor w = FromVector<float>({3, 0, 0, 4}, {2, 2});
  const Tensor u = FromVector<float>({0, 2});
  ExpectEqual(spectral("true")(w, u), {0.75f, 0, 0, 1}, {2, 2});
  ExpectEqual(u, {0, 2}, {2});
  ExpectEqual(spectral("false")(w, u), {0.75f, 0, 0, 1}, {2, 2});
  ExpectEqual(u, {0, 1}, {2});
}

// NNabla's backward pass writes the gradient into w; no run here does.
TEST(NnablaNetworkTest, VatNoiseIsNotLearnt) {
  const Network noise = OneFunction(
      Buffer("x", "1, 2") + Buffer("w", "1, 2") + Buffer("y", "1, 2") +
      Function("VATNoise", "'x', 'w'", "'y'", "vat_noise_param { base_axis: 1 eps: 5 }"));
  const Tensor x = FromVector<float>({3, 4}, {1, 2});
  ExpectEqual(noise(x, Zeros({1, 2})), {3, 4}, {1, 2});
  EXPECT_THAT(firn::testing::ErrorOf([&] {
                noise(x, Zeros({1, 2}).SetRequiresGrad());
              }),
              HasSubstr("at VATNoise: w is expected to be one that learns nothing"));
}

// Those of a type are counted behind the first three.
TEST(NnablaNetworkTest, ListsUnknownFunctionsOfAllNetworks) {
  std::string many = Buffer("x", "2");
  for (int i = 0; i < 40; ++i) {
    many += absl::StrCat(Buffer(absl::StrCat("y", i), "2"),
                         Function("Later", "'x'", absl::StrCat("'y", i, "'")));
  }
  const std::string error = firn::testing::ErrorOf([&] {
    ImportNnablaModel(
        ModelOf(absl::StrCat("network { name: 'a' batch_size: 1 ", many, "}\n",
                             "network { name: 'b' batch_size: 1 ", Buffer("x", "2"),
                             Buffer("y", "2"), Function("Newest", "'x'", "'y'"), "}")),
        "x.nntxt", {});
  });
  const std::string one = "network \"a\", function \"Later\" (Later)";
  EXPECT_THAT(error, HasSubstr(absl::StrCat("x.nntxt: these functions are not supported: ", one,
                                            ", ", one, ", ", one,
                                            " and 37 more like these; "
                                            "network \"b\", function \"Newest\" (Newest)")));
}

TEST(NnablaNetworkTest, NamesAllThatIsWrong) {
  const auto error = [](const std::string& text) {
    return firn::testing::ErrorOf([&] { ImportNnablaModel(ModelOf(text), "x.nntxt", {}); });
  };
  EXPECT_THAT(error(Affine()), HasSubstr("x.nntxt: network \"n\": expected the parameters "
                                         "\"fc/W\", \"fc/b\" in the file"));
  EXPECT_THAT(error(Affine("2, 4") + kParameters),
              HasSubstr("parameter \"fc/W\", shape: expected [2, 4], got [2, 3]"));
  EXPECT_THAT(error("network { name: 'n' batch_size: 1 " + Buffer("x", "2") + Buffer("y", "2") +
                    Function("Add2", "'x'", "'y'") + "}"),
              HasSubstr("function 0 \"Add2\" (Add2), input: expected 2 to 2, got 1"));
  EXPECT_THAT(
      error("executor { name: 'run' network_name: 'm' }"),
      HasSubstr("executor \"run\", network_name: expected a network of the file, got \"m\""));
}

}  // namespace
}  // namespace firn::io
