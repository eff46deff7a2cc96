// Enumerators stand in graph files as words; files that have numbers instead are still read.
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/graph.h"
#include "firn/device/enum_words.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/internal/stored_attrs.h"
#include "firn/optim/muon.h"
#include "firn/optim/semantics.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/problems/norm_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/graph/changed_graph_file.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using internal::StoredAttr;
using internal::StoredGraph;
using internal::StoredWord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- Files of earlier versions -------------------------------------------------------------------

template <class E>
std::vector<std::string> WordsIn() {
  std::vector<std::string> words;
  for (const EnumWord& w : WordsOf(E()).words) words.emplace_back(w.word);
  return words;
}

// What 0, 1, ... mean in graph files before version 3 and in state dicts of optimizers. This must
// never change: new words go to the end.
TEST(GraphFileWordsTest, NumbersMeanWhatTheyMeant) {
  EXPECT_THAT(WordsIn<DType>(),
              ElementsAre("f32", "f64", "f16", "bf16", "i8", "i32", "i64", "u8", "bool"));
  EXPECT_THAT(WordsIn<DeviceType>(), ElementsAre("cpu", "cuda"));
  EXPECT_THAT(WordsIn<PadMode>(),
              ElementsAre("constant", "reflect", "replicate", "circular", "symmetric"));
  EXPECT_THAT(WordsIn<GeluApproximate>(), ElementsAre("none", "tanh"));
  EXPECT_THAT(WordsIn<Reduction>(), ElementsAre("none", "mean", "sum", "batchmean"));
  EXPECT_THAT(WordsIn<FusedActivation>(), ElementsAre("none", "relu", "tanh"));
  EXPECT_THAT(WordsIn<DivRounding>(), ElementsAre("none", "trunc", "floor"));
  EXPECT_THAT(WordsIn<RoundTies>(), ElementsAre("even", "away"));
  EXPECT_THAT(WordsIn<optim::Semantics>(), ElementsAre("pytorch", "nnabla"));
  EXPECT_THAT(WordsIn<optim::MuonScale>(),
              ElementsAre("original", "match_rms_adamw", "spectral_unclamped"));
}

std::string Texts(const Graph& graph) {
  std::string text;
  for (const Instr& i : graph.instrs) text += std::string(i.op->name) + ToString(i.attrs.ref());
  return text;
}

// The function that graph_v2.firn was captured from, before its step; data/README.md has it all.
std::vector<Tensor> Results(const Tensor& w, const Tensor& x) {
  const Tensor y = Pad(w * x, {1, 1}, {.mode = PadMode::kReflect});
  const Tensor z = Round(Div(Gelu(y, GeluApproximate::kTanh), x.Mean(), DivRounding::kFloor) * 0.5,
                         {.ties = RoundTies::kAway});
  const Tensor loss =
      KlDiv(LogSoftmax(y, 1), Softmax(y * 0.5, 1).Detach(), {.reduction = Reduction::kBatchMean});
  return {z, loss, OneHot(Cast(x, DType::kI64), 4)};
}

// Runs a graph of that file, and compares its result and how it moves its parameter.
void ExpectRight(GraphFile file) {
  EXPECT_THAT(
      Texts(file.graph),
      AllOf(HasSubstr("mode=reflect"), HasSubstr("approximate=tanh"), HasSubstr("rounding=floor"),
            HasSubstr("ties=away"), HasSubstr("reduction=batchmean"), HasSubstr("dtype=i64"),
            HasSubstr("device_type=cpu"), HasSubstr("semantics=nnabla")));
  const Tensor w = file.states["w"], velocity = file.states["sgd.state.0.momentum_buffer"];
  const Tensor x = FromVector<float>({2, 1, 0, 3, 1, 2}, {2, 3});
  const std::vector<Tensor> leaves = {w.Clone().SetRequiresGrad()};
  const std::vector<Tensor> want = Results(leaves[0], x);
  const Tensor grad = Grad({want[1]}, leaves)[0], before = velocity.Clone();
  StaticGraph graph = *StaticGraph::Compile(std::move(file.graph));
  const TensorList got = graph.Call({&x, 1});
  ASSERT_EQ(got.size(), want.size());
  EXPECT_EQ(got[0].ToVector<float>(), want[0].ToVector<float>());
  EXPECT_FLOAT_EQ(static_cast<float>(got[1].Item()), static_cast<float>(want[1].Item()));
  EXPECT_EQ(got[2].ToVector<int64_t>(), want[2].ToVector<int64_t>());
  // NNabla's momentum holds the rate: PyTorch's would move by 0.25 of it.
  const Tensor moved = leaves[0].Detach() - (before * 0.5 + grad * 0.25);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(w.ToVector<float>()[static_cast<size_t>(i)],
                    moved.ToVector<float>()[static_cast<size_t>(i)]);
  }
}

constexpr char kVersion2[] = "tests/io/graph/data/graph_v2.firn";

TEST(GraphFileWordsTest, ReadsNumbersOfEarlierVersions) {
  ASSERT_EQ(Parts(ReadFile(kVersion2)).version, 2u);
  absl::StatusOr<GraphFile> file = TryReadGraph(kVersion2);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->info.scale, 0.5);
  ExpectRight(*std::move(file));
}

TEST(GraphFileWordsTest, WrittenAgainTheyAreWords) {
  const GraphFile old = *TryReadGraph(kVersion2);
  const std::string path = TempPath("words.firn");
  const absl::Status saved = TrySaveGraph(path, old.graph, {.names = old.states, .info = old.info});
  ASSERT_TRUE(saved.ok()) << saved;
  const Parts parts(ReadFile(path));
  EXPECT_EQ(parts.version, 3u);
  int words = 0;
  for (const auto& instr : parts.graph().instrs) {
    for (const StoredAttr& a : instr.attrs) words += std::holds_alternative<StoredWord>(a.value);
  }
  EXPECT_GE(words, 8);
  ExpectRight(*TryReadGraph(path));
}

TEST(GraphFileWordsTest, FilesWithoutEnumsAreAsTheyWere) {
  EXPECT_EQ(Parts(SmallFile()).version, 1u);
  EXPECT_EQ(Parts(SmallFile({.scale = 0.5})).version, 2u);
}

// --- Every enumerator of every operation ---------------------------------------------------------

// Finds the enums among attributes, or sets one of them.
class EnumSetter final : public AttrVisitor {
 public:
  EnumSetter() = default;
  EnumSetter(size_t field, int64_t value) : field_(field), value_(value) {}
  void Field(const char*, int64_t&) override {}
  void Field(const char*, double&) override {}
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}

  struct Found {
    std::string name;
    WordList words;
  };
  std::vector<Found> found;

 private:
  void Enumerator(const char* name, int64_t& value, const WordList& words) override {
    if (found.size() == field_) value = value_;
    found.push_back({name, words});
  }
  size_t field_ = SIZE_MAX;
  int64_t value_ = 0;
};

StoredGraph ThroughAFile(const std::vector<StoredAttr>& attrs) {
  StoredGraph graph;
  graph.instrs.push_back({.op = "op", .attrs = attrs, .in = {}, .out = {}, .path = ""});
  graph.version = VersionFor(graph);
  return *internal::DecodeGraph(EncodeGraph(graph), "file", 0, graph.version);
}

// Sets one enum of an operation's attributes, writes them and reads them again.
void ExpectSurvival(const OpDef& op, const std::string& name, size_t field, const EnumWord& word) {
  SCOPED_TRACE(std::string(op.name) + ", " + name + " " + word.word);
  Attrs attrs = DefaultAttrs(op.attrs);
  EnumSetter setter(field, word.value);
  op.attrs->visit(attrs.mutable_data(), setter);
  EXPECT_THAT(ToString(attrs.ref()), HasSubstr(name + "=" + word.word));
  const StoredGraph file = ThroughAFile(*internal::StoreAttrs(attrs.ref()));
  EXPECT_EQ(file.version, 3u);
  const std::vector<StoredAttr>& stored = file.instrs[0].attrs;
  const internal::AttrValue want = StoredWord{word.word};
  EXPECT_TRUE(std::any_of(stored.begin(), stored.end(),
                          [&](const StoredAttr& a) { return a.name == name && a.value == want; }));
  const absl::StatusOr<Attrs> back = internal::RestoreAttrs(op.attrs, stored);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(Equal(back->ref(), attrs.ref())) << ToString(back->ref());
}

TEST(GraphFileWordsTest, EveryEnumeratorSurvives) {
  int enumerators = 0;
  for (const OpDef* op : AllOps()) {
    if (op->attrs == nullptr) continue;
    EnumSetter fields;
    op->attrs->visit(DefaultAttrs(op->attrs).mutable_data(), fields);
    for (size_t i = 0; i < fields.found.size(); ++i) {
      for (const EnumWord& word : fields.found[i].words) {
        ExpectSurvival(*op, fields.found[i].name, i, word);
        ++enumerators;
      }
    }
  }
  EXPECT_GT(enumerators, 100);
}

// --- Hostile files -------------------------------------------------------------------------------

TEST(GraphFileWordsTest, UnknownEnumeratorsAreNamed) {
  const StaticGraph graph = Freeze(
      [](const Tensor& x) {
        return Pad(x, {1, 1}, {.mode = PadMode::kCircular});
      },
      Ones({2, 3}));
  const auto with = [&](const internal::AttrValue& mode, uint32_t version) {
    return Try(Changed(graph, [&](StoredGraph& g) {
      internal::StoredInstr& pad = Find(g, "pad");
      pad.path = "encoder.border";
      for (StoredAttr& a : pad.attrs) {
        if (a.name == "mode") a.value = mode;
      }
      g.version = version;
    }));
  };
  EXPECT_TRUE(with(StoredWord{"symmetric"}, 3).ok());
  for (const uint32_t version : {1u, 2u}) {
    for (int64_t number = 0; number < 5; ++number) EXPECT_TRUE(with(number, version).ok());
  }
  const std::string where = "%1 = pad at encoder.border: attribute 'mode' is ";
  const std::string words =
      ", which stands for none of constant, reflect, replicate, circular or symmetric";
  const auto expect_refused = [&](const internal::AttrValue& mode, const std::string& what) {
    const absl::Status status = with(mode, 3);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr(where + what));
  };
  expect_refused(StoredWord{"edge"}, "'edge'" + words);
  expect_refused(int64_t{5}, "number 5" + words);
  expect_refused(int64_t{-1}, "number -1" + words);
  const absl::Status endless = with(StoredWord{std::string(1 << 20, 'x')}, 3);
  EXPECT_EQ(endless.code(), absl::StatusCode::kResourceExhausted) << endless;
}

// Changes the file and makes the checksums fit.
TEST(GraphFileWordsTest, NoByteIsTrusted) {
  const Parts sound(FileWithWords());
  ASSERT_EQ(sound.version, 3u);
  ASSERT_TRUE(Try(sound.File()).ok());
  LoadGraphOptions options;
  options.limits.max_total_bytes = 1 << 20;
  int accepted = 0;
  for (size_t at = 0; at < sound.structure.size(); ++at) {
    for (const int byte : {0x00, 0x01, 0x05, 0x7f, 0xff}) {
      Parts parts = sound;
      parts.structure[at] = static_cast<char>(byte);
      const absl::Status status = Try(parts.File(), options);
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss ||
                  status.code() == absl::StatusCode::kNotFound ||
                  status.code() == absl::StatusCode::kResourceExhausted)
          << at << ": " << status;
      accepted += status.ok() ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 0);  // padding may be wider
}

}  // namespace
}  // namespace firn::io
